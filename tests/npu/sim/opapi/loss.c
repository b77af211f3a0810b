/* Losses and their gradients. */

#include "elementwise.h"

enum { REDUCTION_NONE = 0, REDUCTION_MEAN = 1, REDUCTION_SUM = 2, REDUCTION_BATCHMEAN = 3 };

static aclnnStatus check_reduction(const Call *call, int64_t most)
{
    int64_t reduction = integer_of(call, "reduction");
    return reduction < 0 || reduction > most
               ? refuse("operator-attribute", "reduction is %lld", (long long)reduction)
               : ACL_SUCCESS;
}

/* --- losses of two tensors --------------------------------------------------------------- */

/* The loss of one element, and its slope by self; `beta` is the operator's own number. */
typedef struct {
    double (*loss)(double self, double target, double beta);
    double (*slope)(double self, double target, double beta);
} Loss;

static double mse(double self, double target, double beta)
{
    (void)beta;
    return (self - target) * (self - target);
}

static double mse_slope(double self, double target, double beta)
{
    (void)beta;
    return 2 * (self - target);
}

static double l1(double self, double target, double beta)
{
    (void)beta;
    return fabs(self - target);
}

static double l1_slope(double self, double target, double beta)
{
    (void)beta;
    return (self > target) - (self < target);
}

static double smooth_l1(double self, double target, double beta)
{
    double distance = fabs(self - target);
    return distance < beta ? 0.5 * distance * distance / beta : distance - 0.5 * beta;
}

static double smooth_l1_slope(double self, double target, double beta)
{
    double distance = self - target;
    return fabs(distance) < beta ? distance / beta : l1_slope(self, target, beta);
}

static double kl_div(double self, double target, double log_target)
{
    if (log_target != 0) {
        return exp(target) * (target - self);
    }
    return target > 0 ? target * (log(target) - self) : 0;
}

static const Loss mse_loss = {mse, mse_slope}, l1_loss = {l1, l1_slope};
static const Loss smooth_l1_loss = {smooth_l1, smooth_l1_slope}, kl_div_loss = {kl_div, NULL};

/* The loss's own number, where its row has one. */
static double own_number(const Call *call)
{
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const char *name = call->operator->parameters[i].name;
        if (strcmp(name, "beta") == 0 || strcmp(name, "logTarget") == 0) {
            return call->arguments[i].number.real;
        }
    }
    return 0;
}

static aclnnStatus check_loss(const Call *call)
{
    View both = *view_of(call, "self");
    const View *out = output_of(call);
    TRY(check_reduction(call, call->operator->detail == &kl_div_loss ? REDUCTION_BATCHMEAN
                                                                     : REDUCTION_SUM));
    if (own_number(call) < 0) {
        return refuse("operator-attribute", "beta is negative");
    }
    TRY(broadcast_with(&both.rank, both.dims, view_of(call, "target"), "target"));
    aclDataType dtype = promote(both.dtype, view_of(call, "target")->dtype);
    if (!can_cast(dtype, out->dtype)) {
        return refuse("operator-cast", "the loss cannot be cast to the output");
    }
    return integer_of(call, "reduction") == REDUCTION_NONE ? expect_like(out, "out", &both)
                                                           : expect_dims(out, "out", 0, NULL);
}

static void run_loss(Call *call)
{
    const Loss *loss = call->operator->detail;
    const View *self = view_of(call, "self"), *target = view_of(call, "target");
    const View *out = output_of(call);
    int64_t reduction = integer_of(call, "reduction"), count = 0;
    double beta = own_number(call), sum = 0;
    View both = *self;
    broadcast_with(&both.rank, both.dims, target, "target");
    Loop loop = loop_over(both.rank, both.dims);
    loop_add(&loop, self);
    loop_add(&loop, target);
    if (reduction == REDUCTION_NONE) {
        loop_add(&loop, out);
    }
    LOOP(loop) {
        double value = loss->loss(load_real(self->dtype, loop.at[0]),
                                  load_real(target->dtype, loop.at[1]), beta);
        count++;
        sum += value;
        if (reduction == REDUCTION_NONE) {
            store_real(out->dtype, loop.at[2], value);
        }
    }
    if (reduction != REDUCTION_NONE) {
        double divisor = reduction == REDUCTION_MEAN ? (double)count
                         : reduction == REDUCTION_BATCHMEAN
                             ? (double)(self->rank ? self->dims[0] : 1)
                             : 1;
        store_real(out->dtype, out->data, sum / divisor);
    }
}

static aclnnStatus check_loss_backward(const Call *call)
{
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    const View *self = view_of(call, "self");
    TRY(check_reduction(call, REDUCTION_SUM));
    TRY(expect_dtype(view_of(call, "gradOutput"), "gradOutput", self->dtype));
    TRY(expect_dtype(view_of(call, "target"), "target", self->dtype));
    TRY(broadcast_inputs(call, &rank, dims));
    return expect_dims(output_of(call), "the output", rank, dims);
}

static void run_loss_backward(Call *call)
{
    const Loss *loss = call->operator->detail;
    const View *self = view_of(call, "self"), *target = view_of(call, "target");
    const View *grad = view_of(call, "gradOutput"), *out = output_of(call);
    bool mean = integer_of(call, "reduction") == REDUCTION_MEAN;
    double beta = own_number(call), scale = mean ? 1 / (double)view_count(out) : 1;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    loop_add(&loop, target);
    loop_add(&loop, grad);
    LOOP(loop) {
        double slope = loss->slope(load_real(self->dtype, loop.at[1]),
                                   load_real(target->dtype, loop.at[2]), beta);
        store_real(out->dtype, loop.at[0], scale * slope * load_real(grad->dtype, loop.at[3]));
    }
}

#define IN_F(name) (IN, name, D_F)
#define REDUCTION (INT64, reduction, 0)
OPERATOR(MseLoss, check_loss, run_loss, &mse_loss, TRAIT_WORKSPACE, IN_F(self), IN_F(target),
         REDUCTION, (OUT, out, D_F))
OPERATOR(MseLossBackward, check_loss_backward, run_loss_backward, &mse_loss, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(self), IN_F(target), REDUCTION, (OUT, out, D_F))
OPERATOR(L1Loss, check_loss, run_loss, &l1_loss, TRAIT_WORKSPACE, (IN, self, D_F | D_I64),
         (IN, target, D_F | D_I64), REDUCTION, (OUT, out, D_F | D_I64))
OPERATOR(L1LossBackward, check_loss_backward, run_loss_backward, &l1_loss, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(self), IN_F(target), REDUCTION, (OUT, gradInput, D_F))
OPERATOR(SmoothL1Loss, check_loss, run_loss, &smooth_l1_loss, TRAIT_WORKSPACE, IN_F(self),
         IN_F(target), REDUCTION, (FLOAT, beta, 0), (OUT, result, D_F))
OPERATOR(SmoothL1LossBackward, check_loss_backward, run_loss_backward, &smooth_l1_loss,
         TRAIT_WORKSPACE, IN_F(gradOutput), IN_F(self), IN_F(target), REDUCTION, (FLOAT, beta, 0),
         (OUT, gradInput, D_F))
OPERATOR(KlDiv, check_loss, run_loss, &kl_div_loss, TRAIT_WORKSPACE, IN_F(self), IN_F(target),
         REDUCTION, (FLAG, logTarget, 0), (OUT, out, D_F))

/* --- binary cross entropy ---------------------------------------------------------------- */

/* log(x), which the operator keeps from going below -100. */
static double bounded_log(double x)
{
    double value = log(x);
    return value < -100 ? -100 : value;
}

static double weight_at(const View *weight, const Loop *loop, int operand)
{
    return operand < 0 ? 1 : load_real(weight->dtype, loop->at[operand]);
}

static int add_optional(Loop *loop, const Call *call, const char *name)
{
    if (!given(call, name)) {
        return -1;
    }
    loop_add(loop, view_of(call, name));
    return loop->operands - 1;
}

static aclnnStatus check_bce(const Call *call)
{
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    TRY(check_reduction(call, REDUCTION_SUM));
    TRY(expect_like(view_of(call, "target"), "target", view_of(call, "self")));
    TRY(broadcast_inputs(call, &rank, dims));
    TRY(expect_dims(view_of(call, "self"), "self", rank, dims));
    return integer_of(call, "reduction") == REDUCTION_NONE
               ? expect_like(view_of(call, "out"), "out", view_of(call, "self"))
               : expect_dims(view_of(call, "out"), "out", 0, NULL);
}

/* With logits self is taken before the sigmoid, and positive targets have a weight of their own. */
static void binary_cross_entropy(Call *call, const char *weight_name, const char *positive_name)
{
    const View *self = view_of(call, "self"), *target = view_of(call, "target");
    const View *out = view_of(call, "out"), *weight = view_of(call, weight_name);
    bool keeps = integer_of(call, "reduction") == REDUCTION_NONE;
    double sum = 0;
    Loop loop = loop_over(self->rank, self->dims);
    loop_add(&loop, self);
    loop_add(&loop, target);
    int weights = add_optional(&loop, call, weight_name);
    int positives = positive_name == NULL ? -1 : add_optional(&loop, call, positive_name);
    if (keeps) {
        loop_add(&loop, out);
    }
    LOOP(loop) {
        double x = load_real(self->dtype, loop.at[0]), y = load_real(target->dtype, loop.at[1]);
        double value;
        if (positive_name == NULL) {
            value = -(y * bounded_log(x) + (1 - y) * bounded_log(1 - x));
        } else {
            double positive = positives < 0 ? 1 : weight_at(view_of(call, positive_name), &loop,
                                                            positives);
            double factor = 1 + (positive - 1) * y;
            value = (1 - y) * x + factor * (log1p(exp(-fabs(x))) + (x < 0 ? -x : 0));
        }
        value *= weight_at(weight, &loop, weights);
        sum += value;
        if (keeps) {
            store_real(out->dtype, loop.at[loop.operands - 1], value);
        }
    }
    if (!keeps) {
        bool mean = integer_of(call, "reduction") == REDUCTION_MEAN;
        store_real(out->dtype, out->data, mean ? sum / (double)view_count(self) : sum);
    }
}

static void run_bce(Call *call)
{
    binary_cross_entropy(call, "weight", NULL);
}

static void run_bce_logits(Call *call)
{
    binary_cross_entropy(call, "weightOptional", "posWeightOptional");
}

static aclnnStatus check_bce_backward(const Call *call)
{
    TRY(check_reduction(call, REDUCTION_SUM));
    return expect_like(view_of(call, "out"), "out", view_of(call, "self"));
}

static void run_bce_backward(Call *call)
{
    const View *self = view_of(call, "self"), *target = view_of(call, "target");
    const View *grad = view_of(call, "gradOutput"), *out = view_of(call, "out");
    bool mean = integer_of(call, "reduction") == REDUCTION_MEAN;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    loop_add(&loop, target);
    loop_add(&loop, grad);
    int weights = add_optional(&loop, call, "weightOptional");
    LOOP(loop) {
        double x = load_real(self->dtype, loop.at[1]), y = load_real(target->dtype, loop.at[2]);
        double spread = (1 - x) * x;
        double slope = (x - y) / (spread > 1e-12 ? spread : 1e-12);
        slope *= load_real(grad->dtype, loop.at[3]) / (mean ? (double)view_count(out) : 1);
        slope *= weight_at(view_of(call, "weightOptional"), &loop, weights);
        store_real(out->dtype, loop.at[0], slope);
    }
}

OPERATOR(BinaryCrossEntropy, check_bce, run_bce, NULL, TRAIT_WORKSPACE, IN_F(self), IN_F(target),
         (OPTIONAL_IN, weight, D_F), REDUCTION, (OUT, out, D_F))
OPERATOR(BinaryCrossEntropyBackward, check_bce_backward, run_bce_backward, NULL, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(self), IN_F(target), (OPTIONAL_IN, weightOptional, D_F), REDUCTION,
         (OUT, out, D_F))
OPERATOR(BinaryCrossEntropyWithLogits, check_bce, run_bce_logits, NULL, TRAIT_WORKSPACE,
         IN_F(self), IN_F(target), (OPTIONAL_IN, weightOptional, D_F),
         (OPTIONAL_IN, posWeightOptional, D_F), REDUCTION, (OUT, out, D_F))

/* --- negative log likelihood ------------------------------------------------------------- */

/* self is [N, C], or [C] for one target. */
static aclnnStatus check_nll_inputs(const Call *call)
{
    const View *self = view_of(call, "self"), *weight = view_of(call, "weight");
    TRY(check_reduction(call, REDUCTION_SUM));
    TRY(expect_rank(self, "self", 1, 2));
    TRY(expect_dims(view_of(call, "target"), "target", self->rank - 1, self->dims));
    TRY(expect_dtype(weight, "weight", self->dtype));
    return expect_dims(weight, "weight", 1, &self->dims[self->rank - 1]);
}

static aclnnStatus check_nll(const Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    TRY(check_nll_inputs(call));
    TRY(expect_dims(view_of(call, "totalWeightOut"), "totalWeightOut", 0, NULL));
    TRY(expect_dtype(out, "out", self->dtype));
    bool lines = integer_of(call, "reduction") == REDUCTION_NONE && self->rank == 2;
    return expect_dims(out, "out", lines, self->dims);
}

static void run_nll(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int64_t classes = self->dims[self->rank - 1];
    int64_t count = self->rank == 1 ? 1 : self->dims[0];
    int64_t ignored = integer_of(call, "ignoreIndex"), reduction = integer_of(call, "reduction");
    double *values = read_reals(self), *weights = read_reals(view_of(call, "weight"));
    int64_t *targets = read_integers(view_of(call, "target"));
    double *losses = sim_allocate((size_t)count, sizeof *losses);
    double sum = 0, total = 0;
    for (int64_t i = 0; i < count && !call->fault; i++) {
        if (targets[i] == ignored) {
            continue;
        }
        if (targets[i] < 0 || targets[i] >= classes) {
            call->fault = ACL_ERROR_RT_AICORE_EXCEPTION;
            break;
        }
        losses[i] = -weights[targets[i]] * values[i * classes + targets[i]];
        sum += losses[i];
        total += weights[targets[i]];
    }
    sum = reduction == REDUCTION_MEAN ? sum / total : sum;
    if (!call->fault) {
        write_reals(out, reduction == REDUCTION_NONE ? losses : &sum);
        write_reals(view_of(call, "totalWeightOut"), &total);
    }
    free(values);
    free(weights);
    free(targets);
    free(losses);
}

static aclnnStatus check_nll_backward(const Call *call)
{
    const View *self = view_of(call, "self");
    TRY(check_nll_inputs(call));
    bool lines = integer_of(call, "reduction") == REDUCTION_NONE && self->rank == 2;
    TRY(expect_dims(view_of(call, "gradOutput"), "gradOutput", lines, self->dims));
    TRY(expect_dims(view_of(call, "totalWeight"), "totalWeight", 0, NULL));
    return expect_like(view_of(call, "out"), "out", self);
}

static void run_nll_backward(Call *call)
{
    const View *self = view_of(call, "self");
    int64_t classes = self->dims[self->rank - 1];
    int64_t count = self->rank == 1 ? 1 : self->dims[0];
    int64_t ignored = integer_of(call, "ignoreIndex"), reduction = integer_of(call, "reduction");
    double *grad = read_reals(view_of(call, "gradOutput"));
    double *weights = read_reals(view_of(call, "weight"));
    double *total = read_reals(view_of(call, "totalWeight"));
    int64_t *targets = read_integers(view_of(call, "target"));
    double *slopes = sim_allocate((size_t)(count * classes), sizeof *slopes);
    for (int64_t i = 0; i < count; i++) {
        bool valid = targets[i] >= 0 && targets[i] < classes;
        if (targets[i] == ignored || !valid) {
            call->fault = targets[i] == ignored ? call->fault : ACL_ERROR_RT_AICORE_EXCEPTION;
            continue;
        }
        bool lines = reduction == REDUCTION_NONE && self->rank == 2;
        double share = reduction == REDUCTION_MEAN ? total[0] : 1;
        slopes[i * classes + targets[i]] = -weights[targets[i]] * grad[lines ? i : 0] / share;
    }
    write_reals(view_of(call, "out"), slopes);
    free(grad);
    free(weights);
    free(total);
    free(targets);
    free(slopes);
}

#define TARGET (IN, target, D_INDEX | D_U8)
OPERATOR(NLLLoss, check_nll, run_nll, NULL, TRAIT_WORKSPACE, IN_F(self), TARGET, IN_F(weight),
         REDUCTION, (INT64, ignoreIndex, 0), (OUT, out, D_F), (OUT, totalWeightOut, D_F))
OPERATOR(NLLLossBackward, check_nll_backward, run_nll_backward, NULL, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(self), TARGET, IN_F(weight), REDUCTION, (INT64, ignoreIndex, 0),
         IN_F(totalWeight), (OUT, out, D_F))
