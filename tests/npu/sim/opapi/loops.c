/* Walks over strided views. */

#include "operator.h"

Loop loop_over(int rank, const int64_t *dims)
{
    Loop loop = {.rank = rank, .left = 1};
    for (int i = 0; i < rank; i++) {
        loop.dims[i] = dims[i];
        loop.left *= dims[i];
    }
    return loop;
}

void loop_add_plain(Loop *loop, void *data, const int64_t *strides)
{
    memcpy(loop->strides[loop->operands], strides, (size_t)loop->rank * sizeof *strides);
    loop->at[loop->operands++] = data;
}

void loop_add(Loop *loop, const View *view)
{
    int64_t strides[SIM_MOST_DIMS] = {0};
    int lead = loop->rank - view->rank;
    for (int i = lead < 0 ? -lead : 0; i < view->rank; i++) { /* [1] may stand for [] */
        strides[lead + i] =
            view->dims[i] == 1 ? 0 : view->strides[i] * (int64_t)aclDataTypeSize(view->dtype);
    }
    loop_add_plain(loop, view->data, strides);
}

void loop_next(Loop *loop)
{
    loop->left--;
    for (int i = loop->rank - 1; i >= 0; i--) {
        for (int j = 0; j < loop->operands; j++) {
            loop->at[j] += loop->strides[j][i];
        }
        if (++loop->index[i] < loop->dims[i]) {
            return;
        }
        for (int j = 0; j < loop->operands; j++) {
            loop->at[j] -= loop->strides[j][i] * loop->dims[i];
        }
        loop->index[i] = 0;
    }
}

double *read_reals(const View *view)
{
    double *values = sim_allocate((size_t)view_count(view), sizeof *values);
    double *next = values;
    Loop loop = loop_over(view->rank, view->dims);
    loop_add(&loop, view);
    LOOP(loop) {
        *next++ = load_real(view->dtype, loop.at[0]);
    }
    return values;
}

int64_t *read_integers(const View *view)
{
    int64_t *values = sim_allocate((size_t)view_count(view), sizeof *values);
    int64_t *next = values;
    Loop loop = loop_over(view->rank, view->dims);
    loop_add(&loop, view);
    LOOP(loop) {
        *next++ = load_integer(view->dtype, loop.at[0]);
    }
    return values;
}

void write_reals(const View *view, const double *values)
{
    Loop loop = loop_over(view->rank, view->dims);
    loop_add(&loop, view);
    LOOP(loop) {
        store_real(view->dtype, loop.at[0], *values++);
    }
}

void write_integers(const View *view, const int64_t *values)
{
    Loop loop = loop_over(view->rank, view->dims);
    loop_add(&loop, view);
    LOOP(loop) {
        store_integer(view->dtype, loop.at[0], *values++);
    }
}

void copy_view(const View *to, const View *from)
{
    Loop loop = loop_over(to->rank, to->dims);
    loop_add(&loop, to);
    loop_add(&loop, from);
    LOOP(loop) {
        convert(to->dtype, loop.at[0], from->dtype, loop.at[1]);
    }
}

View view_slice(const View *view, int dim, int64_t start, int64_t length)
{
    View part = *view;
    part.dims[dim] = length;
    if (part.data != NULL) {
        part.data += start * view->strides[dim] * (int64_t)aclDataTypeSize(view->dtype);
    }
    return part;
}

unsigned char *element_at(const View *view, const int64_t *index)
{
    int64_t element = 0;
    for (int i = 0; i < view->rank; i++) {
        element += index[i] * view->strides[i];
    }
    return view->data + element * (int64_t)aclDataTypeSize(view->dtype);
}

Written written_none(const View *view)
{
    int64_t lowest, end;
    view_extent(view, &lowest, &end);
    return (Written){view, lowest, sim_allocate((size_t)(end - lowest) + 1, 1)};
}

void written_put(Written *written, unsigned char *place, const void *source)
{
    const View *view = written->view;
    size_t size = aclDataTypeSize(view->dtype);
    int64_t element = view->offset + (place - view->data) / (int64_t)size - written->lowest;
    bool differs = written->seen[element] && memcmp(place, source, size) != 0;
    written->seen[element] = 1;
    if (!differs || sim_choose_way(SIM_OPEN_TWICE) == 0) {
        memcpy(place, source, size);
    }
}
