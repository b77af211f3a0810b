/* The fused AdamW step. */

#include "operator.h"

static aclnnStatus check_adamw(const Call *call)
{
    static const char *const names[] = {"mRef", "vRef", "grad"};
    const View *var = view_of(call, "varRef");
    for (int i = 0; i < 3; i++) {
        TRY(expect_like(view_of(call, names[i]), names[i], var));
    }
    if (integer_of(call, "amsgrad") != 0) {
        if (!given(call, "maxGradNormOptionalRef")) {
            return refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument",
                               "amsgrad without maxGradNormOptionalRef");
        }
        TRY(expect_like(view_of(call, "maxGradNormOptionalRef"), "maxGradNormOptionalRef", var));
    }
    return view_count(view_of(call, "step")) == 1
               ? ACL_SUCCESS
               : refuse("operator-shape", "step must have one element");
}

/* step counts from 0: this is step + 1. */
static void run_adamw(Call *call)
{
    const View *var = view_of(call, "varRef"), *step_view = view_of(call, "step");
    const View *maximum = view_of(call, "maxGradNormOptionalRef");
    bool amsgrad = integer_of(call, "amsgrad") != 0;
    double lr = real_of(call, "lr"), eps = real_of(call, "eps");
    double beta1 = real_of(call, "beta1"), beta2 = real_of(call, "beta2");
    double sign = integer_of(call, "maximize") != 0 ? -1 : 1;
    double step = load_real(step_view->dtype, step_view->data) + 1;
    double *x = read_reals(var), *grad = read_reals(view_of(call, "grad"));
    double *m = read_reals(view_of(call, "mRef")), *v = read_reals(view_of(call, "vRef"));
    double *most = amsgrad ? read_reals(maximum) : NULL;
    for (int64_t i = 0; i < view_count(var); i++) {
        double slope = sign * grad[i];
        m[i] = beta1 * m[i] + (1 - beta1) * slope;
        v[i] = beta2 * v[i] + (1 - beta2) * slope * slope;
        double second = v[i];
        if (amsgrad) {
            second = most[i] = most[i] > v[i] ? most[i] : v[i];
        }
        double corrected = sqrt(second / (1 - pow(beta2, step))) + eps;
        x[i] *= 1 - lr * real_of(call, "weightDecay");
        x[i] -= lr * m[i] / (1 - pow(beta1, step)) / corrected;
    }
    write_reals(var, x);
    write_reals(view_of(call, "mRef"), m);
    write_reals(view_of(call, "vRef"), v);
    if (amsgrad) {
        write_reals(maximum, most);
    }
    free(x);
    free(grad);
    free(m);
    free(v);
    free(most);
}

OPERATOR(ApplyAdamWV2, check_adamw, run_adamw, NULL, TRAIT_WORKSPACE, (REF, varRef, D_F),
         (REF, mRef, D_F), (REF, vRef, D_F), (OPTIONAL_REF, maxGradNormOptionalRef, D_F),
         (IN, grad, D_F), (IN, step, DTYPE_BIT(ACL_FLOAT) | D_I64), (FLOAT, lr, 0),
         (FLOAT, beta1, 0), (FLOAT, beta2, 0), (FLOAT, weightDecay, 0), (FLOAT, eps, 0),
         (FLAG, amsgrad, 0), (FLAG, maximize, 0))
