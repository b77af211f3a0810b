/* Layer and RMS normalisation, and their gradients. */

#include "normalization.h"

#define IN_F(name) (IN, name, D_F)
#define OPTIONAL_F(name) (OPTIONAL_IN, name, D_F)
#define OUT_F(name) (OUT, name, D_F)
#define OPTIONAL_OUT_F(name) (OPTIONAL_OUT, name, D_F)

/* --- layer norm -------------------------------------------------------------------------- */

/* The trailing dims are normalised: how many elements they have, and how many lines there are. */
static aclnnStatus check_layer(const Call *call, int64_t *width)
{
    const View *input = view_of(call, "input");
    const Argument *shape = argument_of(call, "normalizedShape");
    int lead = input->rank - (int)shape->count;
    if (shape->count == 0 || lead < 0) {
        return refuse("operator-attribute", "normalizedShape has %llu values",
                      (unsigned long long)shape->count);
    }
    *width = 1;
    for (uint64_t i = 0; i < shape->count; i++) {
        *width *= shape->integers[i];
        if (shape->integers[i] != input->dims[lead + (int)i]) {
            return refuse("operator-shape", "normalizedShape is not the end of input's shape");
        }
    }
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "biasOptional" : "weightOptional";
        if (given(call, name)) {
            TRY(expect_dims(view_of(call, name), name, (int)shape->count, input->dims + lead));
        }
    }
    return ACL_SUCCESS;
}

/* The outer dims, then ones. */
static aclnnStatus check_statistic(const Call *call, const char *name)
{
    View expected = *view_of(call, "input");
    int lead = expected.rank - (int)argument_of(call, "normalizedShape")->count;
    for (int i = lead; i < expected.rank; i++) {
        expected.dims[i] = 1;
    }
    return given(call, name) ? expect_like(view_of(call, name), name, &expected) : ACL_SUCCESS;
}

static aclnnStatus check_layer_norm(const Call *call)
{
    int64_t width;
    TRY(check_layer(call, &width));
    TRY(check_statistic(call, "meanOutOptional"));
    TRY(check_statistic(call, "rstdOutOptional"));
    TRY(expect_dtype(view_of(call, "out"), "out", view_of(call, "input")->dtype));
    return expect_like(view_of(call, "out"), "out", view_of(call, "input"));
}

static void run_layer_norm(Call *call)
{
    int64_t width;
    check_layer(call, &width);
    const View *input = view_of(call, "input");
    int64_t lines = width == 0 ? 0 : view_count(input) / width;
    double eps = real_of(call, "eps");
    double *x = read_reals(input);
    double *weight = read_or(call, "weightOptional", width, 1);
    double *bias = read_or(call, "biasOptional", width, 0);
    double *means = sim_allocate((size_t)lines, sizeof *means);
    double *rstds = sim_allocate((size_t)lines, sizeof *rstds);
    for (int64_t i = 0; i < lines; i++) {
        double *line = x + i * width;
        moments(line, width, eps, &means[i], &rstds[i]);
        for (int64_t j = 0; j < width; j++) {
            line[j] = (line[j] - means[i]) * rstds[i] * weight[j] + bias[j];
        }
    }
    write_reals(view_of(call, "out"), x);
    write_optional(call, "meanOutOptional", means);
    write_optional(call, "rstdOutOptional", rstds);
    free(x);
    free(weight);
    free(bias);
    free(means);
    free(rstds);
}

OPERATOR(LayerNorm, check_layer_norm, run_layer_norm, NULL, TRAIT_WORKSPACE, IN_F(input),
         (INTS, normalizedShape, 0), OPTIONAL_F(weightOptional), OPTIONAL_F(biasOptional),
         (DOUBLE, eps, 0), OUT_F(out), OPTIONAL_OUT_F(meanOutOptional),
         OPTIONAL_OUT_F(rstdOutOptional))

static const char *const layer_outputs[] = {"gradInputOut", "gradWeightOut", "gradBiasOut"};

static aclnnStatus check_layer_norm_backward(const Call *call)
{
    int64_t width;
    const View *input = view_of(call, "input");
    int lead = input->rank - (int)argument_of(call, "normalizedShape")->count;
    TRY(check_layer(call, &width));
    TRY(check_statistic(call, "mean"));
    TRY(check_statistic(call, "rstd"));
    TRY(check_mask(call, layer_outputs));
    TRY(expect_like(view_of(call, "gradOut"), "gradOut", input));
    if (wanted(call, 0)) {
        TRY(expect_like(view_of(call, "gradInputOut"), "gradInputOut", input));
    }
    for (int i = 1; i < 3; i++) {
        if (wanted(call, i)) {
            TRY(expect_dims(view_of(call, layer_outputs[i]), layer_outputs[i], input->rank - lead,
                            input->dims + lead));
        }
    }
    return ACL_SUCCESS;
}

static void run_layer_norm_backward(Call *call)
{
    int64_t width;
    check_layer(call, &width);
    const View *input = view_of(call, "input");
    int64_t lines = width == 0 ? 0 : view_count(input) / width;
    double *grad = read_reals(view_of(call, "gradOut")), *x = read_reals(input);
    double *means = read_reals(view_of(call, "mean")), *rstds = read_reals(view_of(call, "rstd"));
    double *weight = read_or(call, "weightOptional", width, 1);
    double *input_grad = sim_allocate((size_t)view_count(input), sizeof *input_grad);
    double *weight_grad = sim_allocate((size_t)width, sizeof *weight_grad);
    double *bias_grad = sim_allocate((size_t)width, sizeof *bias_grad);
    double *slope = sim_allocate((size_t)width, sizeof *slope);
    for (int64_t i = 0; i < lines; i++) {
        const double *line = x + i * width, *line_grad = grad + i * width;
        for (int64_t j = 0; j < width; j++) {
            slope[j] = line_grad[j] * weight[j];
            weight_grad[j] += line_grad[j] * (line[j] - means[i]) * rstds[i];
            bias_grad[j] += line_grad[j];
        }
        normalize_backward(slope, line, width, means[i], rstds[i], input_grad + i * width);
    }
    const double *results[] = {input_grad, weight_grad, bias_grad};
    for (int i = 0; i < 3; i++) {
        if (wanted(call, i)) {
            write_reals(view_of(call, layer_outputs[i]), results[i]);
        }
    }
    free(grad);
    free(x);
    free(means);
    free(rstds);
    free(weight);
    free(input_grad);
    free(weight_grad);
    free(bias_grad);
    free(slope);
}

OPERATOR(LayerNormBackward, check_layer_norm_backward, run_layer_norm_backward, NULL,
         TRAIT_WORKSPACE, IN_F(gradOut), IN_F(input), (INTS, normalizedShape, 0), IN_F(mean),
         IN_F(rstd), OPTIONAL_F(weightOptional), OPTIONAL_F(biasOptional), (BOOLS, outputMask, 0),
         OPTIONAL_OUT_F(gradInputOut), OPTIONAL_OUT_F(gradWeightOut), OPTIONAL_OUT_F(gradBiasOut))

/* --- RMS norm ---------------------------------------------------------------------------- */

#define D_F32 DTYPE_BIT(ACL_FLOAT)

static aclnnStatus check_rms(const Call *call, const char *out)
{
    const View *x = view_of(call, "x"), *gamma = view_of(call, "gamma");
    int lead = x->rank - gamma->rank;
    if (lead < 0) {
        return refuse("operator-rank", "gamma has more dimensions than x");
    }
    TRY(expect_dims(gamma, "gamma", gamma->rank, x->dims + lead));
    return expect_like(view_of(call, out), out, x);
}

static aclnnStatus check_rms_norm(const Call *call)
{
    return check_rms(call, "yOut");
}

static void run_rms_norm(Call *call)
{
    const View *input = view_of(call, "x");
    double *x = read_reals(input), *gamma = read_reals(view_of(call, "gamma"));
    int64_t width = view_count(view_of(call, "gamma"));
    int64_t lines = width == 0 ? 0 : view_count(input) / width;
    double *rstds = sim_allocate((size_t)lines, sizeof *rstds);
    for (int64_t i = 0; i < lines; i++) {
        double square = 0;
        for (int64_t j = 0; j < width; j++) {
            square += x[i * width + j] * x[i * width + j];
        }
        rstds[i] = 1 / sqrt(square / (double)width + real_of(call, "epsilon"));
        for (int64_t j = 0; j < width; j++) {
            x[i * width + j] *= rstds[i] * gamma[j];
        }
    }
    write_reals(view_of(call, "yOut"), x);
    write_reals(view_of(call, "rstdOut"), rstds);
    free(x);
    free(gamma);
    free(rstds);
}

OPERATOR(RmsNorm, check_rms_norm, run_rms_norm, NULL, TRAIT_WORKSPACE, IN_F(x), IN_F(gamma),
         (DOUBLE, epsilon, 0), OUT_F(yOut), (OUT, rstdOut, D_F32))

static aclnnStatus check_rms_norm_grad(const Call *call)
{
    TRY(expect_like(view_of(call, "dy"), "dy", view_of(call, "x")));
    TRY(expect_like(view_of(call, "dgammaOut"), "dgammaOut", view_of(call, "gamma")));
    return check_rms(call, "dxOut");
}

static void run_rms_norm_grad(Call *call)
{
    const View *input = view_of(call, "x");
    double *x = read_reals(input), *dy = read_reals(view_of(call, "dy"));
    double *gamma = read_reals(view_of(call, "gamma")), *rstds = read_reals(view_of(call, "rstd"));
    int64_t width = view_count(view_of(call, "gamma"));
    int64_t lines = width == 0 ? 0 : view_count(input) / width;
    double *dgamma = sim_allocate((size_t)width, sizeof *dgamma);
    for (int64_t i = 0; i < lines; i++) {
        double product = 0;
        for (int64_t j = 0; j < width; j++) {
            double normal = x[i * width + j] * rstds[i];
            dgamma[j] += dy[i * width + j] * normal;
            product += dy[i * width + j] * gamma[j] * normal;
        }
        for (int64_t j = 0; j < width; j++) {
            double normal = x[i * width + j] * rstds[i];
            double slope = dy[i * width + j] * gamma[j];
            x[i * width + j] = rstds[i] * (slope - normal * product / (double)width);
        }
    }
    write_reals(view_of(call, "dxOut"), x);
    write_reals(view_of(call, "dgammaOut"), dgamma);
    free(x);
    free(dy);
    free(gamma);
    free(rstds);
    free(dgamma);
}

OPERATOR(RmsNormGrad, check_rms_norm_grad, run_rms_norm_grad, NULL, TRAIT_WORKSPACE, IN_F(dy),
         IN_F(x), (IN, rstd, D_F32), IN_F(gamma), OUT_F(dxOut), (OUT, dgammaOut, D_F32))
