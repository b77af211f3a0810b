/* Random numbers and dropout.
 *
 * A number is a hash of seed, offset and place, so that the same call gives the same numbers.  They
 * are not those of a device: tests compare distributions. */

#include "elementwise.h"

/* A uniform number in (0, 1). */
static double uniform(uint64_t seed, uint64_t offset, uint64_t place)
{
    uint64_t bits = seed * 0x9E3779B97F4A7C15u + offset * 0xD1B54A32D192ED03u + place;
    for (int i = 0; i < 3; i++) { /* the finaliser of splitmix64, thrice */
        bits += 0x9E3779B97F4A7C15u;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
        bits ^= bits >> 31;
    }
    return ((double)(bits >> 11) + 0.5) / 9007199254740992.0;
}

static double uniform_at(const Call *call, uint64_t place)
{
    return uniform((uint64_t)integer_of(call, "seed"), (uint64_t)integer_of(call, "offset"), place);
}

/* --- fills ------------------------------------------------------------------------------- */

typedef struct {
    double (*draw)(const Call *call, uint64_t place);
} Distribution;

static double draw_normal(const Call *call, uint64_t place)
{
    double radius = sqrt(-2 * log(uniform_at(call, 2 * place)));
    double normal = radius * cos(2 * M_PI * uniform_at(call, 2 * place + 1));
    return real_of(call, "mean") + real_of(call, "std") * normal;
}

static double draw_uniform(const Call *call, uint64_t place)
{
    double from = real_of(call, "from"), to = real_of(call, "to");
    double value = from + (to - from) * uniform_at(call, place);
    double stored = round_real(output_of(call)->dtype, value);
    return stored >= to && to > from ? from : value; /* `to` itself does not belong */
}

static double draw_integer(const Call *call, uint64_t place)
{
    int64_t from = integer_of(call, "from"), to = integer_of(call, "to");
    return (double)from + floor((double)(to - from) * uniform_at(call, place));
}

static double draw_bernoulli(const Call *call, uint64_t place)
{
    return uniform_at(call, place) < real_of(call, "prob");
}

static void run_draw(Call *call)
{
    const Distribution *distribution = call->operator->detail;
    const View *out = output_of(call);
    uint64_t place = 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        store_real(out->dtype, loop.at[0], distribution->draw(call, place++));
    }
}

static aclnnStatus check_normal(const Call *call)
{
    return real_of(call, "std") < 0 ? refuse("operator-attribute", "std is negative") : ACL_SUCCESS;
}

static aclnnStatus check_uniform(const Call *call)
{
    return real_of(call, "from") > real_of(call, "to")
               ? refuse("operator-attribute", "from is above to")
               : ACL_SUCCESS;
}

static aclnnStatus check_random(const Call *call)
{
    return integer_of(call, "from") >= integer_of(call, "to")
               ? refuse("operator-attribute", "from is not below to")
               : ACL_SUCCESS;
}

static aclnnStatus check_probability(const Call *call)
{
    double probability = real_of(call, "prob");
    return probability >= 0 && probability <= 1
               ? ACL_SUCCESS
               : refuse("operator-attribute", "prob is %g", probability);
}

static aclnnStatus check_bernoulli(const Call *call)
{
    TRY(check_probability(call));
    return expect_like(view_of(call, "out"), "out", view_of(call, "self"));
}

static const Distribution normal = {draw_normal}, flat = {draw_uniform};
static const Distribution integers = {draw_integer}, bernoulli = {draw_bernoulli};
#define SEED (INT64, seed, 0), (INT64, offset, 0)
OPERATOR(InplaceNormal, check_normal, run_draw, &normal, 0, (REF, selfRef, D_FLOATS),
         (FLOAT, mean, 0), (FLOAT, std, 0), SEED)
OPERATOR(InplaceUniform, check_uniform, run_draw, &flat, 0, (REF, selfRef, D_FLOATS | D_I),
         (DOUBLE, from, 0), (DOUBLE, to, 0), (UINT64, seed, 0), (UINT64, offset, 0))
OPERATOR(InplaceRandom, check_random, run_draw, &integers, 0, (REF, selfRef, D_NUMBERS),
         (INT64, from, 0), (INT64, to, 0), SEED)
OPERATOR(Bernoulli, check_bernoulli, run_draw, &bernoulli, 0, (IN, self, D_REALS),
         (FACTOR, prob, 0), SEED, (OUT, out, D_REALS))
OPERATOR(InplaceBernoulli, check_probability, run_draw, &bernoulli, 0, (REF, selfRef, D_REALS),
         (FACTOR, prob, 0), SEED)

static aclnnStatus check_bernoulli_tensor(const Call *call)
{
    return expect_like(view_of(call, "prob"), "prob", view_of(call, "selfRef"));
}

static void run_bernoulli_tensor(Call *call)
{
    const View *out = view_of(call, "selfRef"), *probability = view_of(call, "prob");
    uint64_t place = 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, probability);
    LOOP(loop) {
        double limit = load_real(probability->dtype, loop.at[1]);
        store_real(out->dtype, loop.at[0], uniform_at(call, place++) < limit);
    }
}

#define D_PROBABILITY (D_FLOATS & ~DTYPE_BIT(ACL_BF16))
OPERATOR(InplaceBernoulliTensor, check_bernoulli_tensor, run_bernoulli_tensor, NULL, 0,
         (REF, selfRef, D_REALS & ~DTYPE_BIT(ACL_BF16)), (IN, prob, D_PROBABILITY), SEED)

/* --- permutations ------------------------------------------------------------------------ */

static aclnnStatus check_randperm(const Call *call)
{
    int64_t n = integer_of(call, "n");
    return n < 0 ? refuse("operator-attribute", "n is negative")
                 : expect_dims(view_of(call, "out"), "out", 1, &n);
}

static void run_randperm(Call *call)
{
    int64_t n = integer_of(call, "n");
    int64_t *order = sim_allocate((size_t)n, sizeof *order);
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t other = (int64_t)(uniform_at(call, (uint64_t)i) * (double)(i + 1));
        int64_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    write_integers(view_of(call, "out"), order);
    free(order);
}

OPERATOR(Randperm, check_randperm, run_randperm, NULL, TRAIT_WORKSPACE, (INT64, n, 0), SEED,
         (OUT, out, D_FLOATS | D_I))

/* --- dropout: one bit per element, set where it is kept ---------------------------------- */

static int64_t mask_bytes(int64_t elements)
{
    return (elements + 127) / 128 * 16;
}

static aclnnStatus check_mask(const Call *call)
{
    const Argument *shape = argument_of(call, "shape");
    int64_t elements = 1;
    TRY(check_probability(call));
    for (uint64_t i = 0; i < shape->count; i++) {
        elements *= shape->integers[i];
    }
    int64_t bytes = mask_bytes(elements);
    return expect_dims(view_of(call, "out"), "out", 1, &bytes);
}

static void run_mask(Call *call)
{
    const View *out = view_of(call, "out");
    uint64_t place = 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        uint8_t bits = 0;
        for (int i = 0; i < 8; i++) {
            bits |= (uint8_t)((uniform_at(call, place++) >= real_of(call, "prob")) << i);
        }
        *loop.at[0] = bits;
    }
}

OPERATOR(DropoutGenMask, check_mask, run_mask, NULL, 0, (INTS, shape, 0), (DOUBLE, prob, 0), SEED,
         (OUT, out, D_U8))
OPERATOR(DropoutGenMaskV2, check_mask, run_mask, NULL, 0, (INTS, shape, 0), (DOUBLE, prob, 0), SEED,
         (DTYPE, probDataType, 0), (OUT, out, D_U8))

static aclnnStatus check_dropout(const Call *call)
{
    const View *self = view_of(call, "self");
    int64_t bytes = mask_bytes(view_count(self));
    TRY(check_probability(call));
    TRY(expect_dims(view_of(call, "mask"), "mask", 1, &bytes));
    TRY(expect_dtype(view_of(call, "out"), "out", self->dtype));
    return expect_like(view_of(call, "out"), "out", self);
}

static void run_dropout(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int64_t *mask = read_integers(view_of(call, "mask"));
    double kept = 1 - real_of(call, "prob");
    int64_t place = 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    LOOP(loop) {
        bool keep = mask[place / 8] >> place % 8 & 1;
        double value = load_real(self->dtype, loop.at[1]);
        store_real(out->dtype, loop.at[0], keep && kept > 0 ? value / kept : 0);
        place++;
    }
    free(mask);
}

OPERATOR(DropoutDoMask, check_dropout, run_dropout, NULL, TRAIT_ALIAS, (IN, self, D_F),
         (IN, mask, D_U8), (DOUBLE, prob, 0), (OUT, out, D_F))

/* --- draws by weight --------------------------------------------------------------------- */

static aclnnStatus check_multinomial(const Call *call)
{
    View expected = *view_of(call, "self");
    TRY(expect_rank(&expected, "self", 1, 2));
    int64_t samples = integer_of(call, "numsamples");
    int64_t classes = expected.dims[expected.rank - 1];
    if (samples <= 0 || (integer_of(call, "replacement") == 0 && samples > classes)) {
        return refuse("operator-attribute", "%lld samples", (long long)samples);
    }
    expected.dims[expected.rank - 1] = samples;
    return expect_like(view_of(call, "out"), "out", &expected);
}

static int64_t draw_class(const double *weights, int64_t classes, double share)
{
    double total = 0, sum = 0;
    for (int64_t i = 0; i < classes; i++) {
        total += weights[i];
    }
    int64_t last = 0;
    for (int64_t i = 0; i < classes; i++) {
        sum += weights[i];
        if (weights[i] > 0) {
            last = i;
            if (share * total < sum) {
                break;
            }
        }
    }
    return last;
}

static void run_multinomial(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int64_t classes = self->dims[self->rank - 1], samples = integer_of(call, "numsamples");
    double *weights = read_reals(self);
    int64_t *drawn = sim_allocate((size_t)view_count(out), sizeof *drawn);
    for (int64_t i = 0; i < view_count(out); i++) {
        double *line = weights + i / samples * classes;
        drawn[i] = draw_class(line, classes, uniform_at(call, (uint64_t)i));
        if (integer_of(call, "replacement") == 0) {
            line[drawn[i]] = 0;
        }
    }
    write_integers(out, drawn);
    free(weights);
    free(drawn);
}

OPERATOR(Multinomial, check_multinomial, run_multinomial, NULL, TRAIT_WORKSPACE,
         (IN, self, D_FLOATS), (INT64, numsamples, 0), (FLAG, replacement, 0), SEED,
         (OUT, out, D_I64))
