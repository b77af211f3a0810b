/* Batch and group normalisation, and their gradients. */

#include "normalization.h"

#define IN_F(name) (IN, name, D_F)
#define OPTIONAL_F(name) (OPTIONAL_IN, name, D_F)
#define OUT_F(name) (OUT, name, D_F)
#define OPTIONAL_OUT_F(name) (OPTIONAL_OUT, name, D_F)

/* --- batch norm: all dims but the channel (1) are samples -------------------------------- */

static aclnnStatus check_channels(const Call *call, const View *input, const char *const *names,
                                  int count)
{
    TRY(expect_rank(input, "input", 2, 5));
    for (int i = 0; i < count; i++) {
        if (given(call, names[i])) {
            TRY(expect_dims(view_of(call, names[i]), names[i], 1, &input->dims[1]));
        }
    }
    return ACL_SUCCESS;
}

/* The view with the channel first. */
static View by_channel(const View *view)
{
    View moved = *view;
    moved.dims[0] = view->dims[1];
    moved.dims[1] = view->dims[0];
    moved.strides[0] = view->strides[1];
    moved.strides[1] = view->strides[0];
    return moved;
}

static aclnnStatus check_batch_norm(const Call *call)
{
    static const char *const names[] = {"weight",      "bias",     "runningMean",
                                        "runningVar",  "saveMean", "saveInvstd"};
    const View *input = view_of(call, "input");
    TRY(check_channels(call, input, names, integer_of(call, "training") ? 6 : 4));
    if (integer_of(call, "training") == 0 &&
        (!given(call, "runningMean") || !given(call, "runningVar"))) {
        return refuse("operator-attribute", "no running statistics, and not in training");
    }
    return expect_like(view_of(call, "output"), "output", input);
}

/* saveInvstd holds the variance on these chips. */
static void run_batch_norm(Call *call)
{
    View input = by_channel(view_of(call, "input")), output = by_channel(view_of(call, "output"));
    int64_t channels = input.dims[0];
    int64_t n = channels == 0 ? 0 : view_count(&input) / channels;
    bool training = integer_of(call, "training") != 0;
    double eps = real_of(call, "eps"), momentum = real_of(call, "momentum");
    double *x = read_reals(&input), *weight = read_or(call, "weight", channels, 1);
    double *bias = read_or(call, "bias", channels, 0);
    double *means = read_or(call, "runningMean", channels, 0);
    double *variances = read_or(call, "runningVar", channels, 1);
    double *saved_means = sim_allocate((size_t)channels, sizeof *saved_means);
    double *saved_variances = sim_allocate((size_t)channels, sizeof *saved_variances);
    for (int64_t c = 0; c < channels; c++) {
        double *line = x + c * n, mean = means[c], variance = variances[c], rstd;
        if (training) {
            moments(line, n, 0, &mean, &rstd);
            variance = 1 / (rstd * rstd);
            double unbiased = n > 1 ? variance * (double)n / (double)(n - 1) : variance;
            means[c] += momentum * (mean - means[c]);
            variances[c] += momentum * (unbiased - variances[c]);
            saved_means[c] = mean;
            saved_variances[c] = variance;
        }
        for (int64_t i = 0; i < n; i++) {
            line[i] = (line[i] - mean) / sqrt(variance + eps) * weight[c] + bias[c];
        }
    }
    write_reals(&output, x);
    if (training) {
        write_optional(call, "runningMean", means);
        write_optional(call, "runningVar", variances);
        write_reals(view_of(call, "saveMean"), saved_means);
        write_reals(view_of(call, "saveInvstd"), saved_variances);
    }
    free(x);
    free(weight);
    free(bias);
    free(means);
    free(variances);
    free(saved_means);
    free(saved_variances);
}

OPERATOR(BatchNorm, check_batch_norm, run_batch_norm, NULL, TRAIT_WORKSPACE, IN_F(input),
         OPTIONAL_F(weight), OPTIONAL_F(bias), (OPTIONAL_REF, runningMean, D_F),
         (OPTIONAL_REF, runningVar, D_F), (FLAG, training, 0), (DOUBLE, momentum, 0),
         (DOUBLE, eps, 0), OUT_F(output), OUT_F(saveMean), OUT_F(saveInvstd))

static const char *const batch_outputs[] = {"gradInput", "gradWeight", "gradBias"};

static aclnnStatus check_batch_norm_backward(const Call *call)
{
    static const char *const names[] = {"weight", "runningMean", "runningVar", "gradWeight",
                                        "gradBias"};
    const View *input = view_of(call, "input");
    TRY(check_channels(call, input, names, 5));
    TRY(check_mask(call, batch_outputs));
    TRY(expect_like(view_of(call, "gradOut"), "gradOut", input));
    return wanted(call, 0) ? expect_like(view_of(call, "gradInput"), "gradInput", input)
                           : ACL_SUCCESS;
}

static void run_batch_norm_backward(Call *call)
{
    View input = by_channel(view_of(call, "input"));
    View grad_out = by_channel(view_of(call, "gradOut"));
    int64_t channels = input.dims[0], n = channels == 0 ? 0 : view_count(&input) / channels;
    bool training = integer_of(call, "training") != 0;
    double *x = read_reals(&input), *grad = read_reals(&grad_out);
    double *weight = read_or(call, "weight", channels, 1);
    double *means = read_or(call, training ? "saveMean" : "runningMean", channels, 0);
    double *variances = read_or(call, training ? "saveInvstd" : "runningVar", channels, 1);
    double *input_grad = sim_allocate((size_t)view_count(&input), sizeof *input_grad);
    double *weight_grad = sim_allocate((size_t)channels, sizeof *weight_grad);
    double *bias_grad = sim_allocate((size_t)channels, sizeof *bias_grad);
    for (int64_t c = 0; c < channels; c++) {
        double rstd = 1 / sqrt(variances[c] + real_of(call, "eps"));
        double *line = x + c * n, *slope = grad + c * n;
        for (int64_t i = 0; i < n; i++) {
            weight_grad[c] += slope[i] * (line[i] - means[c]) * rstd;
            bias_grad[c] += slope[i];
            slope[i] *= weight[c];
            input_grad[c * n + i] = slope[i] * rstd;
        }
        if (training) {
            normalize_backward(slope, line, n, means[c], rstd, input_grad + c * n);
        }
    }
    if (wanted(call, 0)) {
        View target = by_channel(view_of(call, "gradInput"));
        write_reals(&target, input_grad);
    }
    if (wanted(call, 1)) {
        write_reals(view_of(call, "gradWeight"), weight_grad);
    }
    if (wanted(call, 2)) {
        write_reals(view_of(call, "gradBias"), bias_grad);
    }
    free(x);
    free(grad);
    free(weight);
    free(means);
    free(variances);
    free(input_grad);
    free(weight_grad);
    free(bias_grad);
}

OPERATOR(BatchNormBackward, check_batch_norm_backward, run_batch_norm_backward, NULL,
         TRAIT_WORKSPACE, IN_F(gradOut), IN_F(input), OPTIONAL_F(weight), OPTIONAL_F(runningMean),
         OPTIONAL_F(runningVar), OPTIONAL_F(saveMean), OPTIONAL_F(saveInvstd), (FLAG, training, 0),
         (DOUBLE, eps, 0), (BOOLS, outputMask, 0), OPTIONAL_OUT_F(gradInput),
         OPTIONAL_OUT_F(gradWeight), OPTIONAL_OUT_F(gradBias))

/* --- group norm: [N, C, HxW], each sample's channels in groups --------------------------- */

static aclnnStatus check_groups(const Call *call, const char *input)
{
    int64_t n = integer_of(call, "N"), c = integer_of(call, "C"), area = integer_of(call, "HxW");
    int64_t groups = integer_of(call, "group");
    if (groups <= 0 || c % groups != 0 || view_count(view_of(call, input)) != n * c * area) {
        return refuse("operator-attribute", "%lld groups of %lld channels", (long long)groups,
                      (long long)c);
    }
    return given(call, "gamma") ? expect_dims(view_of(call, "gamma"), "gamma", 1, &c)
                                : ACL_SUCCESS;
}

static aclnnStatus check_group_norm(const Call *call)
{
    int64_t dims[2] = {integer_of(call, "N"), integer_of(call, "group")};
    TRY(check_groups(call, "self"));
    TRY(expect_dims(view_of(call, "meanOut"), "meanOut", 2, dims));
    TRY(expect_dims(view_of(call, "rstdOut"), "rstdOut", 2, dims));
    return expect_like(view_of(call, "out"), "out", view_of(call, "self"));
}

static void run_group_norm(Call *call)
{
    int64_t channels = integer_of(call, "C"), area = integer_of(call, "HxW");
    int64_t groups = integer_of(call, "group"), lines = integer_of(call, "N") * groups;
    int64_t width = channels / groups * area;
    double *x = read_reals(view_of(call, "self"));
    double *gamma = read_or(call, "gamma", channels, 1);
    double *beta = read_or(call, "beta", channels, 0);
    double *means = sim_allocate((size_t)lines, sizeof *means);
    double *rstds = sim_allocate((size_t)lines, sizeof *rstds);
    for (int64_t i = 0; i < lines; i++) {
        double *line = x + i * width;
        moments(line, width, real_of(call, "eps"), &means[i], &rstds[i]);
        for (int64_t j = 0; j < width; j++) {
            int64_t channel = i % groups * (channels / groups) + j / area;
            line[j] = (line[j] - means[i]) * rstds[i] * gamma[channel] + beta[channel];
        }
    }
    write_reals(view_of(call, "out"), x);
    write_reals(view_of(call, "meanOut"), means);
    write_reals(view_of(call, "rstdOut"), rstds);
    free(x);
    free(gamma);
    free(beta);
    free(means);
    free(rstds);
}

#define GROUPS (INT64, N, 0), (INT64, C, 0), (INT64, HxW, 0), (INT64, group, 0)
OPERATOR(GroupNorm, check_group_norm, run_group_norm, NULL, TRAIT_WORKSPACE, IN_F(self),
         OPTIONAL_F(gamma), OPTIONAL_F(beta), GROUPS, (DOUBLE, eps, 0), OUT_F(out), OUT_F(meanOut),
         OUT_F(rstdOut))

static const char *const group_outputs[] = {"gradInput", "gradGammaOut", "gradBetaOut"};

static aclnnStatus check_group_norm_backward(const Call *call)
{
    TRY(check_groups(call, "input"));
    TRY(expect_like(view_of(call, "gradOut"), "gradOut", view_of(call, "input")));
    return check_mask(call, group_outputs);
}

static void run_group_norm_backward(Call *call)
{
    int64_t channels = integer_of(call, "C"), area = integer_of(call, "HxW");
    int64_t groups = integer_of(call, "group"), lines = integer_of(call, "N") * groups;
    int64_t width = channels / groups * area;
    double *x = read_reals(view_of(call, "input")), *grad = read_reals(view_of(call, "gradOut"));
    double *means = read_reals(view_of(call, "mean")), *rstds = read_reals(view_of(call, "rstd"));
    double *gamma = read_or(call, "gamma", channels, 1);
    double *input_grad = sim_allocate((size_t)(lines * width), sizeof *input_grad);
    double *gamma_grad = sim_allocate((size_t)channels, sizeof *gamma_grad);
    double *beta_grad = sim_allocate((size_t)channels, sizeof *beta_grad);
    for (int64_t i = 0; i < lines; i++) {
        const double *line = x + i * width;
        double *slope = grad + i * width;
        for (int64_t j = 0; j < width; j++) {
            int64_t channel = i % groups * (channels / groups) + j / area;
            gamma_grad[channel] += slope[j] * (line[j] - means[i]) * rstds[i];
            beta_grad[channel] += slope[j];
            slope[j] *= gamma[channel];
        }
        normalize_backward(slope, line, width, means[i], rstds[i], input_grad + i * width);
    }
    const double *results[] = {input_grad, gamma_grad, beta_grad};
    for (int i = 0; i < 3; i++) {
        if (wanted(call, i)) {
            write_reals(view_of(call, group_outputs[i]), results[i]);
        }
    }
    free(x);
    free(grad);
    free(means);
    free(rstds);
    free(gamma);
    free(input_grad);
    free(gamma_grad);
    free(beta_grad);
}

OPERATOR(GroupNormBackward, check_group_norm_backward, run_group_norm_backward, NULL,
         TRAIT_WORKSPACE, IN_F(gradOut), IN_F(input), IN_F(mean), IN_F(rstd), OPTIONAL_F(gamma),
         GROUPS, (BOOLS, outputMask, 0), OPTIONAL_OUT_F(gradInput), OPTIONAL_OUT_F(gradGammaOut),
         OPTIONAL_OUT_F(gradBetaOut))
