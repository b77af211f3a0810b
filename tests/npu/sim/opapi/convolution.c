/* Convolution of one to three spatial dims, forward and backward, also transposed.
 *
 * All three products are one walk over (output place, kernel place): which input element meets
 * which weight for which output. */

#include "normalization.h"

enum { MOST_SPATIAL = 3 };

/* Shapes and attributes, the missing spatial dims in front being of size 1. */
typedef struct {
    int spatial;
    int64_t batch, groups, in_channels, out_channels;
    int64_t input[MOST_SPATIAL], kernel[MOST_SPATIAL], output[MOST_SPATIAL];
    int64_t stride[MOST_SPATIAL], padding[MOST_SPATIAL], dilation[MOST_SPATIAL];
    bool transposed;
} Geometry;

static int64_t volume(const int64_t *dims)
{
    return dims[0] * dims[1] * dims[2];
}

static aclnnStatus spread(const Call *call, const char *name, int spatial, int64_t fill,
                          int64_t least, int64_t *values)
{
    const Argument *array = argument_of(call, name);
    if ((int)array->count != spatial && array->count != 1) {
        return refuse("operator-attribute", "%s has %llu values", name,
                      (unsigned long long)array->count);
    }
    for (int i = 0; i < MOST_SPATIAL; i++) {
        int at = i - (MOST_SPATIAL - spatial);
        values[i] = at < 0 ? fill : array->integers[array->count == 1 ? 0 : at];
        if (values[i] < least) {
            return refuse("operator-attribute", "%s is %lld", name, (long long)values[i]);
        }
    }
    return ACL_SUCCESS;
}

static aclnnStatus lay_out(const Call *call, Geometry *g)
{
    const View *input = view_of(call, "input"), *weight = view_of(call, "weight");
    int64_t extra[MOST_SPATIAL];
    TRY(expect_rank(input, "input", 3, 5));
    TRY(expect_rank(weight, "weight", input->rank, input->rank));
    *g = (Geometry){.spatial = input->rank - 2, .batch = input->dims[0]};
    g->groups = integer_of(call, "groups");
    g->transposed = integer_of(call, "transposed") != 0;
    TRY(spread(call, "stride", g->spatial, 1, 1, g->stride));
    TRY(spread(call, "padding", g->spatial, 0, 0, g->padding));
    TRY(spread(call, "dilation", g->spatial, 1, 1, g->dilation));
    TRY(spread(call, "outputPadding", g->spatial, 0, 0, extra));
    g->in_channels = input->dims[1];
    g->out_channels = g->transposed ? weight->dims[1] * g->groups : weight->dims[0];
    if (g->groups <= 0 || g->out_channels % g->groups != 0 ||
        (g->transposed ? weight->dims[0] : weight->dims[1] * g->groups) != g->in_channels) {
        return refuse("operator-shape", "channels, groups and weight do not fit");
    }
    for (int i = 0; i < MOST_SPATIAL; i++) {
        int at = i - (MOST_SPATIAL - g->spatial);
        g->input[i] = at < 0 ? 1 : input->dims[2 + at];
        g->kernel[i] = at < 0 ? 1 : weight->dims[2 + at];
        int64_t reach = g->dilation[i] * (g->kernel[i] - 1);
        g->output[i] = g->transposed ? (g->input[i] - 1) * g->stride[i] - 2 * g->padding[i] +
                                           reach + (at < 0 ? 0 : extra[i]) + 1
                                     : (g->input[i] + 2 * g->padding[i] - reach - 1) / g->stride[i] + 1;
        if (g->output[i] < 0 || g->input[i] + 2 * g->padding[i] < (g->transposed ? 0 : reach + 1)) {
            return refuse("operator-shape", "the kernel is larger than the padded input");
        }
    }
    return ACL_SUCCESS;
}

static View output_like(const View *input, const Geometry *g)
{
    View output = *input;
    output.dims[1] = g->out_channels;
    for (int i = 0; i < g->spatial; i++) {
        output.dims[2 + i] = g->output[MOST_SPATIAL - g->spatial + i];
    }
    return output;
}

/* Calls `meet` with the flat places of every input, weight and output element that go together. */
static void walk(const Geometry *g, void (*meet)(void *data, int64_t in, int64_t w, int64_t out),
                 void *data)
{
    /* A transposed convolution is the other one with input and output exchanged. */
    const int64_t *small = g->transposed ? g->input : g->output;
    const int64_t *large = g->transposed ? g->output : g->input;
    int64_t small_channels = g->transposed ? g->in_channels : g->out_channels;
    int64_t large_channels = g->transposed ? g->out_channels : g->in_channels;
    int64_t large_group = large_channels / g->groups, small_group = small_channels / g->groups;
    int64_t kernel_volume = volume(g->kernel);
    for (int64_t n = 0; n < g->batch; n++) {
        for (int64_t s = 0; s < small_channels; s++) {
            for (int64_t place = 0; place < volume(small); place++) {
                int64_t at[3] = {place / (small[1] * small[2]), place / small[2] % small[1],
                                 place % small[2]};
                for (int64_t k = 0; k < kernel_volume; k++) {
                    int64_t tap[3] = {k / (g->kernel[1] * g->kernel[2]),
                                      k / g->kernel[2] % g->kernel[1], k % g->kernel[2]};
                    int64_t flat = 0;
                    bool inside = true;
                    for (int i = 0; i < MOST_SPATIAL; i++) {
                        int64_t x = at[i] * g->stride[i] - g->padding[i] + tap[i] * g->dilation[i];
                        inside = inside && x >= 0 && x < large[i];
                        flat = flat * large[i] + x;
                    }
                    for (int64_t c = 0; inside && c < large_group; c++) {
                        int64_t l = s / small_group * large_group + c;
                        int64_t small_place = (n * small_channels + s) * volume(small) + place;
                        int64_t large_place = (n * large_channels + l) * volume(large) + flat;
                        int64_t w = (s * large_group + c) * kernel_volume + k;
                        meet(data, g->transposed ? small_place : large_place, w,
                             g->transposed ? large_place : small_place);
                    }
                }
            }
        }
    }
}

typedef struct {
    double *input, *weight, *output;                /* values */
    double *input_grad, *weight_grad; /* sums, for the backward walk */
} Product;

static void meet_forward(void *data, int64_t in, int64_t w, int64_t out)
{
    Product *product = data;
    product->output[out] += product->input[in] * product->weight[w];
}

static void meet_backward(void *data, int64_t in, int64_t w, int64_t out)
{
    Product *product = data;
    product->input_grad[in] += product->output[out] * product->weight[w];
    product->weight_grad[w] += product->output[out] * product->input[in];
}

static aclnnStatus check_convolution(const Call *call)
{
    Geometry g;
    const View *input = view_of(call, "input");
    TRY(lay_out(call, &g));
    TRY(expect_dtype(view_of(call, "weight"), "weight", input->dtype));
    if (given(call, "bias")) {
        TRY(expect_dims(view_of(call, "bias"), "bias", 1, &g.out_channels));
    }
    View expected = output_like(input, &g);
    TRY(expect_like(view_of(call, "output"), "output", &expected));
    return check_cube(call, input->dtype);
}

static void run_convolution(Call *call)
{
    Geometry g;
    lay_out(call, &g);
    const View *output = view_of(call, "output");
    Product product = {.input = read_reals(view_of(call, "input")),
                       .weight = read_reals(view_of(call, "weight"))};
    double *bias = read_or(call, "bias", g.out_channels, 0);
    product.output = sim_allocate((size_t)view_count(output), sizeof *product.output);
    for (int64_t i = 0; i < view_count(output); i++) {
        product.output[i] = bias[i / volume(g.output) % g.out_channels];
    }
    walk(&g, meet_forward, &product);
    write_reals(output, product.output);
    free(product.input);
    free(product.weight);
    free(product.output);
    free(bias);
}

#define IN_F(name) (IN, name, D_F)
#define ATTRIBUTES                                                                      \
    (INTS, stride, 0), (INTS, padding, 0), (INTS, dilation, 0), (FLAG, transposed, 0), \
        (INTS, outputPadding, 0)
OPERATOR(Convolution, check_convolution, run_convolution, NULL, TRAIT_WORKSPACE, IN_F(input),
         IN_F(weight), (OPTIONAL_IN, bias, D_F), ATTRIBUTES, (INT64, groups, 0),
         (OUT, output, D_F), (INT8, cubeMathType, 0))

static const char *const outputs[] = {"gradInput", "gradWeight", "gradBias"};

static aclnnStatus check_backward(const Call *call)
{
    Geometry g;
    const View *input = view_of(call, "input");
    TRY(lay_out(call, &g));
    View expected = output_like(input, &g);
    TRY(expect_like(view_of(call, "gradOutput"), "gradOutput", &expected));
    TRY(check_mask(call, outputs));
    if (wanted(call, 0)) {
        TRY(expect_like(view_of(call, "gradInput"), "gradInput", input));
    }
    if (wanted(call, 1)) {
        TRY(expect_like(view_of(call, "gradWeight"), "gradWeight", view_of(call, "weight")));
    }
    if (wanted(call, 2)) {
        TRY(expect_dims(view_of(call, "gradBias"), "gradBias", 1, &g.out_channels));
    }
    return check_cube(call, input->dtype);
}

static void run_backward(Call *call)
{
    Geometry g;
    lay_out(call, &g);
    const View *input = view_of(call, "input"), *weight = view_of(call, "weight");
    const View *grad = view_of(call, "gradOutput");
    Product product = {read_reals(input), read_reals(weight), read_reals(grad),
                       sim_allocate((size_t)view_count(input), sizeof(double)),
                       sim_allocate((size_t)view_count(weight), sizeof(double))};
    double *bias_grad = sim_allocate((size_t)g.out_channels, sizeof *bias_grad);
    for (int64_t i = 0; i < view_count(grad); i++) {
        bias_grad[i / volume(g.output) % g.out_channels] += product.output[i];
    }
    walk(&g, meet_backward, &product);
    const double *results[] = {product.input_grad, product.weight_grad, bias_grad};
    for (int i = 0; i < 3; i++) {
        if (wanted(call, i)) {
            write_reals(view_of(call, outputs[i]), results[i]);
        }
    }
    free(product.input);
    free(product.weight);
    free(product.output);
    free(product.input_grad);
    free(product.weight_grad);
    free(bias_grad);
}

OPERATOR(ConvolutionBackward, check_backward, run_backward, NULL, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(input), IN_F(weight), (OPTIONAL_INTS, biasSizes, 0), ATTRIBUTES,
         (INT, groups, 0), (BOOLS, outputMask, 0), (INT8, cubeMathType, 0),
         (OPTIONAL_OUT, gradInput, D_F), (OPTIONAL_OUT, gradWeight, D_F),
         (OPTIONAL_OUT, gradBias, D_F))
