/* Arguments by name, and the checks of shapes that many operators share. */

#include "operator.h"

const Argument *argument_of(const Call *call, const char *name)
{
    for (int i = 0; i < call->operator->parameter_count; i++) {
        if (strcmp(call->operator->parameters[i].name, name) == 0) {
            return &call->arguments[i];
        }
    }
    abort(); /* a row and its functions do not fit */
}

const View *view_of(const Call *call, const char *name)
{
    return &argument_of(call, name)->view;
}

bool given(const Call *call, const char *name)
{
    return argument_of(call, name)->present;
}

int64_t integer_of(const Call *call, const char *name)
{
    return argument_of(call, name)->number.integer;
}

double real_of(const Call *call, const char *name)
{
    return argument_of(call, name)->number.real;
}

const View *output_of(const Call *call)
{
    for (int i = 0; i < call->operator->parameter_count; i++) {
        if (is_written_kind(call->operator->parameters[i].kind)) {
            return &call->arguments[i].view;
        }
    }
    abort();
}

/* One element may be of shape [] or [1]. */
static bool same_dims(const View *view, int rank, const int64_t *dims)
{
    if (view->rank + rank == 1) {
        return (view->rank == 1 ? view->dims : dims)[0] == 1;
    }
    return view->rank == rank &&
           (rank == 0 || memcmp(view->dims, dims, (size_t)rank * sizeof *dims) == 0);
}

static char *text_of(int rank, const int64_t *dims)
{
    char *text = sim_format("[");
    for (int i = 0; i < rank; i++) {
        char *longer = sim_format("%s%s%lld", text, i ? ", " : "", (long long)dims[i]);
        free(text);
        text = longer;
    }
    char *closed = sim_format("%s]", text);
    free(text);
    return closed;
}

aclnnStatus expect_dims(const View *view, const char *name, int rank, const int64_t *dims)
{
    if (same_dims(view, rank, dims)) {
        return ACL_SUCCESS;
    }
    char *is = text_of(view->rank, view->dims);
    char *wanted = text_of(rank, dims);
    aclnnStatus status = refuse("operator-shape", "%s has shape %s, %s is expected", name, is,
                                wanted);
    free(is);
    free(wanted);
    return status;
}

aclnnStatus expect_like(const View *view, const char *name, const View *model)
{
    return expect_dims(view, name, model->rank, model->dims);
}

aclnnStatus expect_dtype(const View *view, const char *name, aclDataType dtype)
{
    return view->dtype == dtype ? ACL_SUCCESS
                                : refuse("operator-dtype", "%s is %s, %s is expected", name,
                                         dtype_name(view->dtype), dtype_name(dtype));
}

aclnnStatus expect_rank(const View *view, const char *name, int low, int high)
{
    return view->rank >= low && view->rank <= high
               ? ACL_SUCCESS
               : refuse("operator-rank", "%s has %d dimensions, %d to %d are possible", name,
                        view->rank, low, high);
}

aclnnStatus wrap_dim(int64_t dim, int rank, int *wrapped)
{
    int64_t size = rank == 0 ? 1 : rank;
    if (dim < -size || dim >= size) {
        return refuse("operator-dim", "dim %lld is out of range for %d dimensions", (long long)dim,
                      rank);
    }
    *wrapped = (int)(dim < 0 ? dim + size : dim);
    return ACL_SUCCESS;
}

/* --- cubeMathType ------------------------------------------------------------------------ */

enum { KEEP_DTYPE = 0, ALLOW_DOWN = 1, USE_FP16 = 2, USE_HF32 = 3 };

aclnnStatus check_cube(const Call *call, aclDataType dtype)
{
    int64_t type = integer_of(call, "cubeMathType");
    bool wide = dtype == ACL_FLOAT;
    bool good = type == ALLOW_DOWN || (type == USE_FP16 && dtype != ACL_BF16);
    if (sim_setting(SIM_SOC) == SIM_SOC_910A) { /* computes in f16 only */
        good = good || (type == KEEP_DTYPE && !wide);
    } else {
        good = good || type == KEEP_DTYPE || (type == USE_HF32 && wide);
    }
    return good ? ACL_SUCCESS
                : refuse("operator-attribute", "cubeMathType %lld for %s on this chip",
                         (long long)type, dtype_name(dtype));
}
