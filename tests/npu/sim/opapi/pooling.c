/* Pooling of two spatial dims: maxima and averages over windows, and their gradients. */

#include "operator.h"

/* Heights and widths; `planes` are all dims in front together. */
typedef struct {
    int64_t planes, input[2], output[2], kernel[2], stride[2], padding[2];
} Windows;

static aclnnStatus pair(const Call *call, const char *name, const int64_t *otherwise, int64_t *values)
{
    const Argument *array = argument_of(call, name);
    if (array->count > 2 || (array->count == 0 && otherwise == NULL)) {
        return refuse("operator-attribute", "%s has %llu values", name,
                      (unsigned long long)array->count);
    }
    for (int i = 0; i < 2; i++) {
        values[i] = array->count == 0 ? otherwise[i] : array->integers[array->count == 1 ? 0 : i];
    }
    return ACL_SUCCESS;
}

static int64_t windows_along(const Windows *w, int i, bool ceil_mode)
{
    int64_t room = w->input[i] + 2 * w->padding[i] - w->kernel[i];
    int64_t count = room < 0 ? 0 : (room + (ceil_mode ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
    /* The last window starts inside the input or its left padding. */
    bool outside = ceil_mode && (count - 1) * w->stride[i] >= w->input[i] + w->padding[i];
    return outside ? count - 1 : count;
}

static aclnnStatus lay_out(const Call *call, const char *stride, const char *padding, Windows *w)
{
    const View *self = view_of(call, "self");
    TRY(expect_rank(self, "self", 3, 4));
    w->planes = self->dims[0] * (self->rank == 4 ? self->dims[1] : 1);
    TRY(pair(call, "kernelSize", NULL, w->kernel));
    TRY(pair(call, stride, w->kernel, w->stride));
    TRY(pair(call, padding, NULL, w->padding));
    for (int i = 0; i < 2; i++) {
        w->input[i] = self->dims[self->rank - 2 + i];
        if (w->kernel[i] <= 0 || w->stride[i] <= 0 || w->padding[i] < 0 ||
            2 * w->padding[i] > w->kernel[i]) {
            return refuse("operator-attribute", "kernel %lld, stride %lld, padding %lld",
                          (long long)w->kernel[i], (long long)w->stride[i],
                          (long long)w->padding[i]);
        }
        w->output[i] = windows_along(w, i, integer_of(call, "ceilMode") != 0);
    }
    return ACL_SUCCESS;
}

static aclnnStatus expect_pooled(const Call *call, const Windows *w, const char *name)
{
    View expected = *view_of(call, "self");
    memcpy(expected.dims + expected.rank - 2, w->output, sizeof w->output);
    return expect_like(view_of(call, name), name, &expected);
}

/* The part of a window that lies in the input. */
static void clip(const Windows *w, int i, int64_t place, int64_t *begin, int64_t *end)
{
    int64_t start = place * w->stride[i] - w->padding[i];
    *end = start + w->kernel[i] < w->input[i] ? start + w->kernel[i] : w->input[i];
    *begin = start < 0 ? 0 : start;
}

/* --- maxima ------------------------------------------------------------------------------ */

/* The flat place of the largest of a window, within its plane. */
static int64_t largest(const Windows *w, const double *plane, int64_t row, int64_t column)
{
    int64_t top, bottom, left, right;
    clip(w, 0, row, &top, &bottom);
    clip(w, 1, column, &left, &right);
    int64_t best = top * w->input[1] + left;
    for (int64_t i = top; i < bottom; i++) {
        for (int64_t j = left; j < right; j++) {
            int64_t place = i * w->input[1] + j;
            best = plane[place] > plane[best] || isnan(plane[place]) ? place : best;
        }
    }
    return best;
}

/* For each output element, the place of its maximum; the caller frees. */
static int64_t *maxima(const Windows *w, const double *x)
{
    int64_t outputs = w->output[0] * w->output[1], inputs = w->input[0] * w->input[1];
    int64_t *places = sim_allocate((size_t)(w->planes * outputs), sizeof *places);
    for (int64_t i = 0; i < w->planes * outputs; i++) {
        places[i] = largest(w, x + i / outputs * inputs, i % outputs / w->output[1],
                            i % w->output[1]);
    }
    return places;
}

static aclnnStatus check_dilation(const Call *call)
{
    int64_t dilation[2];
    TRY(pair(call, "dilation", NULL, dilation));
    return dilation[0] == 1 && dilation[1] == 1 ? ACL_SUCCESS
                                                : refuse("operator-attribute", "dilation is not 1");
}

/* The mask's inside is the operator's own; it is this large at least. */
static aclnnStatus check_mask(const Call *call, const Windows *w)
{
    int64_t blocks = (w->output[0] * w->output[1] + 15) / 16 + 1;
    int64_t bytes = w->planes * w->kernel[0] * w->kernel[1] * blocks * 32;
    return view_count(view_of(call, "indices")) >= bytes && view_contiguous(view_of(call, "indices"))
               ? ACL_SUCCESS
               : refuse("operator-shape", "indices needs %lld contiguous bytes", (long long)bytes);
}

static aclnnStatus check_max(const Call *call)
{
    Windows w;
    TRY(lay_out(call, "stride", "padding", &w));
    TRY(check_dilation(call));
    TRY(expect_dtype(view_of(call, "out"), "out", view_of(call, "self")->dtype));
    TRY(expect_pooled(call, &w, "out"));
    return view_of(call, "indices")->dtype == ACL_INT8 ? check_mask(call, &w)
                                                       : expect_pooled(call, &w, "indices");
}

static void run_max(Call *call)
{
    Windows w;
    lay_out(call, "stride", "padding", &w);
    double *x = read_reals(view_of(call, "self"));
    int64_t *places = maxima(&w, x);
    const View *out = view_of(call, "out"), *indices = view_of(call, "indices");
    int64_t i = 0, outputs = w.output[0] * w.output[1], inputs = w.input[0] * w.input[1];
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        store_real(out->dtype, loop.at[0], x[i / outputs * inputs + places[i]]);
        i++;
    }
    if (indices->dtype != ACL_INT8) {
        write_integers(indices, places);
    } else if (view_count(indices) > 0) {
        memset(indices->data, 0x5A, (size_t)view_count(indices));
    }
    free(x);
    free(places);
}

#define IN_F(name) (IN, name, D_F)
#define KERNEL (INTS, kernelSize, 0)
#define MAX_ATTRIBUTES \
    KERNEL, (INTS, stride, 0), (INTS, padding, 0), (INTS, dilation, 0), (FLAG, ceilMode, 0)
OPERATOR(MaxPool2dWithMask, check_max, run_max, NULL, TRAIT_WORKSPACE, IN_F(self), MAX_ATTRIBUTES,
         (OUT, out, D_F), (OUT, indices, D_I8))
OPERATOR(MaxPool2dWithIndices, check_max, run_max, NULL, TRAIT_WORKSPACE, IN_F(self),
         MAX_ATTRIBUTES, (OUT, out, D_F), (OUT, indices, D_INDEX))

static aclnnStatus check_max_backward(const Call *call)
{
    Windows w;
    TRY(lay_out(call, "stride", "padding", &w));
    TRY(check_dilation(call));
    TRY(check_mask(call, &w));
    TRY(expect_pooled(call, &w, "gradOutput"));
    return expect_like(view_of(call, "gradInput"), "gradInput", view_of(call, "self"));
}

/* Finds the maxima again: the mask must be one that the forward operator wrote. */
static void run_max_backward(Call *call)
{
    Windows w;
    lay_out(call, "stride", "padding", &w);
    const View *self = view_of(call, "self"), *indices = view_of(call, "indices");
    double *x = read_reals(self), *grad = read_reals(view_of(call, "gradOutput"));
    int64_t *places = maxima(&w, x);
    double *sums = sim_allocate((size_t)view_count(self), sizeof *sums);
    int64_t outputs = w.output[0] * w.output[1], inputs = w.input[0] * w.input[1];
    for (int64_t i = 0; i < w.planes * outputs; i++) {
        sums[i / outputs * inputs + places[i]] += grad[i];
    }
    if (view_count(indices) > 0 && indices->data[0] != 0x5A) {
        call->fault = ACL_ERROR_RT_AICORE_EXCEPTION;
    } else {
        write_reals(view_of(call, "gradInput"), sums);
    }
    free(x);
    free(grad);
    free(places);
    free(sums);
}

OPERATOR(MaxPool2dWithMaskBackward, check_max_backward, run_max_backward, NULL, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(self), (IN, indices, D_I8), MAX_ATTRIBUTES, (OUT, gradInput, D_F))

/* --- averages ---------------------------------------------------------------------------- */

static double divisor(const Call *call, const Windows *w, int64_t row, int64_t column)
{
    int64_t place[2] = {row, column}, size = 1;
    if (integer_of(call, "divisorOverride") != 0) {
        return (double)integer_of(call, "divisorOverride");
    }
    for (int i = 0; i < 2; i++) {
        int64_t begin, end;
        clip(w, i, place[i], &begin, &end);
        if (integer_of(call, "countIncludePad") != 0) {
            int64_t start = place[i] * w->stride[i] - w->padding[i];
            int64_t padded = w->input[i] + w->padding[i];
            begin = start;
            end = start + w->kernel[i] < padded ? start + w->kernel[i] : padded;
        }
        size *= end - begin;
    }
    return (double)size;
}

/* Forward: adds up windows of x into out.  Backward: spreads out's gradient over x. */
static void average(const Call *call, const Windows *w, double *x, double *out, bool backward)
{
    int64_t outputs = w->output[0] * w->output[1], inputs = w->input[0] * w->input[1];
    for (int64_t i = 0; i < w->planes * outputs; i++) {
        int64_t row = i % outputs / w->output[1], column = i % w->output[1];
        int64_t top, bottom, left, right;
        clip(w, 0, row, &top, &bottom);
        clip(w, 1, column, &left, &right);
        double share = 1 / divisor(call, w, row, column);
        for (int64_t y = top; y < bottom; y++) {
            for (int64_t z = left; z < right; z++) {
                double *element = &x[i / outputs * inputs + y * w->input[1] + z];
                *(backward ? element : &out[i]) += share * (backward ? out[i] : *element);
            }
        }
    }
}

static aclnnStatus check_average(const Call *call)
{
    Windows w;
    TRY(lay_out(call, "strides", "paddings", &w));
    TRY(check_cube(call, view_of(call, "self")->dtype));
    return expect_pooled(call, &w, "out");
}

static void run_average(Call *call)
{
    Windows w;
    lay_out(call, "strides", "paddings", &w);
    double *x = read_reals(view_of(call, "self"));
    double *out = sim_allocate((size_t)view_count(view_of(call, "out")), sizeof *out);
    average(call, &w, x, out, false);
    write_reals(view_of(call, "out"), out);
    free(x);
    free(out);
}

static aclnnStatus check_average_backward(const Call *call)
{
    Windows w;
    TRY(lay_out(call, "stride", "padding", &w));
    TRY(check_cube(call, view_of(call, "self")->dtype));
    TRY(expect_pooled(call, &w, "gradOutput"));
    return expect_like(view_of(call, "gradInput"), "gradInput", view_of(call, "self"));
}

static void run_average_backward(Call *call)
{
    Windows w;
    lay_out(call, "stride", "padding", &w);
    double *grad = read_reals(view_of(call, "gradOutput"));
    double *sums = sim_allocate((size_t)view_count(view_of(call, "self")), sizeof *sums);
    average(call, &w, sums, grad, true);
    write_reals(view_of(call, "gradInput"), sums);
    free(grad);
    free(sums);
}

#define AVERAGE_ATTRIBUTES                                                      \
    (FLAG, ceilMode, 0), (FLAG, countIncludePad, 0), (INT64, divisorOverride, 0), \
        (INT8, cubeMathType, 0)
OPERATOR(AvgPool2d, check_average, run_average, NULL, TRAIT_WORKSPACE, IN_F(self), KERNEL,
         (INTS, strides, 0), (INTS, paddings, 0), AVERAGE_ATTRIBUTES, (OUT, out, D_F))
OPERATOR(AvgPool2dBackward, check_average_backward, run_average_backward, NULL, TRAIT_WORKSPACE,
         IN_F(gradOutput), IN_F(self), KERNEL, (INTS, stride, 0), (INTS, padding, 0),
         AVERAGE_ATTRIBUTES, (OUT, gradInput, D_F))

static aclnnStatus check_adaptive(const Call *call)
{
    View expected = *view_of(call, "self");
    TRY(expect_rank(&expected, "self", 3, 4));
    TRY(pair(call, "outputSize", NULL, expected.dims + expected.rank - 2));
    return expect_like(view_of(call, "out"), "out", &expected);
}

static void run_adaptive(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int last = self->rank - 1;
    int64_t at[SIM_MOST_DIMS];
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        int64_t begin[2], end[2];
        double sum = 0;
        for (int i = 0; i < 2; i++) {
            int64_t size = self->dims[last - 1 + i], count = out->dims[last - 1 + i];
            begin[i] = loop.index[last - 1 + i] * size / count;
            end[i] = ((loop.index[last - 1 + i] + 1) * size + count - 1) / count;
        }
        memcpy(at, loop.index, sizeof at);
        for (at[last - 1] = begin[0]; at[last - 1] < end[0]; at[last - 1]++) {
            for (at[last] = begin[1]; at[last] < end[1]; at[last]++) {
                sum += load_real(self->dtype, element_at(self, at));
            }
        }
        double area = (double)((end[0] - begin[0]) * (end[1] - begin[1]));
        store_real(out->dtype, loop.at[0], sum / area);
    }
}

OPERATOR(AdaptiveAvgPool2d, check_adaptive, run_adaptive, NULL, TRAIT_WORKSPACE, IN_F(self),
         (INTS, outputSize, 0), (OUT, out, D_F))
