/* Matrix products.  All are batched [B, n, k] by [B, k, m], read into plain arrays. */

#include "elementwise.h"

/* bf16 must not be mixed with the others. */
static aclnnStatus check_mix(const Call *call)
{
    bool bf16 = false, other = false;
    aclDataType widest = ACL_FLOAT16;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_tensor_kind(argument->parameter->kind) && argument->present) {
            bf16 = bf16 || argument->view.dtype == ACL_BF16;
            other = other || argument->view.dtype != ACL_BF16;
            widest = argument->view.dtype == ACL_FLOAT16 ? widest : argument->view.dtype;
        }
    }
    if (bf16 && other) {
        return refuse("operator-dtype", "BFLOAT16 is mixed with another dtype");
    }
    return check_cube(call, widest);
}

/* --- products ---------------------------------------------------------------------------- */

/* sum over k of a[i, k] * b[k, j]; the caller frees. */
static double *multiply(const double *a, const double *b, int64_t n, int64_t k, int64_t m)
{
    double *product = sim_allocate((size_t)(n * m), sizeof *product);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < k; l++) {
            double factor = a[i * k + l];
            for (int64_t j = 0; j < m; j++) {
                product[i * m + j] += factor * b[l * m + j];
            }
        }
    }
    return product;
}

/* A vector is a matrix of one row on the left, of one column on the right. */
static View as_matrix(const View *view, bool left)
{
    View matrix = *view;
    if (view->rank == 1) {
        matrix.rank = 2;
        matrix.dims[left] = view->dims[0];
        matrix.strides[left] = view->strides[0];
        matrix.dims[!left] = 1;
        matrix.strides[!left] = 0;
    }
    return matrix;
}

/* The shape of torch.matmul: a's and b's batch dims broadcast, then rows and columns. */
static aclnnStatus matmul_dims(const View *a, const View *b, int *rank, int64_t *dims)
{
    View left = as_matrix(a, true), right = as_matrix(b, false);
    if (left.dims[left.rank - 1] != right.dims[right.rank - 2]) {
        return refuse("operator-shape", "inner dimensions %lld and %lld differ",
                      (long long)left.dims[left.rank - 1], (long long)right.dims[right.rank - 2]);
    }
    *rank = 0;
    View left_batch = left, right_batch = right;
    left_batch.rank -= 2;
    right_batch.rank -= 2;
    TRY(broadcast_with(rank, dims, &left_batch, "self's batch"));
    TRY(broadcast_with(rank, dims, &right_batch, "mat2's batch"));
    if (a->rank > 1) {
        dims[(*rank)++] = left.dims[left.rank - 2];
    }
    if (b->rank > 1) {
        dims[(*rank)++] = right.dims[right.rank - 1];
    }
    return ACL_SUCCESS;
}

/* The matrix at the batch index of a loop over the output's batch dims. */
static View matrix_at(const View *view, const Loop *batch)
{
    View matrix = *view;
    int lead = batch->rank - (view->rank - 2);
    matrix.rank = 2;
    for (int i = 0; i < view->rank - 2; i++) {
        int64_t index = view->dims[i] == 1 ? 0 : batch->index[lead + i];
        matrix.data += index * view->strides[i] * (int64_t)aclDataTypeSize(view->dtype);
    }
    for (int i = 0; i < 2; i++) {
        matrix.dims[i] = view->dims[view->rank - 2 + i];
        matrix.strides[i] = view->strides[view->rank - 2 + i];
    }
    return matrix;
}

/* All products of a batch, in row-major order of `batch`; the caller frees. */
static double *batch_products(const View *a, const View *b, Loop batch)
{
    View left = as_matrix(a, true), right = as_matrix(b, false);
    int64_t n = left.dims[left.rank - 2], k = left.dims[left.rank - 1];
    int64_t m = right.dims[right.rank - 1];
    double *all = sim_allocate((size_t)(batch.left * n * m), sizeof *all);
    double *next = all;
    LOOP(batch) {
        if (n * m * k == 0) {
            break;
        }
        View l = matrix_at(&left, &batch), r = matrix_at(&right, &batch);
        double *x = read_reals(&l), *y = read_reals(&r);
        double *product = multiply(x, y, n, k, m);
        memcpy(next, product, (size_t)(n * m) * sizeof *product);
        next += n * m;
        free(x);
        free(y);
        free(product);
    }
    return all;
}

/* --- matmul, mm, bmm, mv, dot ------------------------------------------------------------ */

static aclnnStatus check_product(const Call *call, const char *second)
{
    const View *a = view_of(call, "self"), *b = view_of(call, second);
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    TRY(expect_rank(a, "self", 1, 6));
    TRY(expect_rank(b, second, 1, 6));
    TRY(matmul_dims(a, b, &rank, dims));
    TRY(expect_dims(output_of(call), "out", rank, dims));
    return check_mix(call);
}

static aclnnStatus check_matmul(const Call *call)
{
    return check_product(call, "mat2");
}

static aclnnStatus check_mm(const Call *call)
{
    TRY(expect_rank(view_of(call, "self"), "self", 2, 2));
    TRY(expect_rank(view_of(call, "mat2"), "mat2", 2, 2));
    return check_matmul(call);
}

static aclnnStatus check_bmm(const Call *call)
{
    TRY(expect_rank(view_of(call, "self"), "self", 3, 3));
    TRY(expect_rank(view_of(call, "mat2"), "mat2", 3, 3));
    return check_matmul(call);
}

static aclnnStatus check_mv(const Call *call)
{
    TRY(expect_rank(view_of(call, "self"), "self", 2, 2));
    TRY(expect_rank(view_of(call, "vec"), "vec", 1, 1));
    return check_product(call, "vec");
}

static void product(const Call *call, const char *second)
{
    const View *a = view_of(call, "self"), *b = view_of(call, second), *out = output_of(call);
    int vectors = (a->rank == 1) + (b->rank == 1);
    int batch_rank = out->rank - 2 + vectors;
    double *values = batch_products(a, b, loop_over(batch_rank < 0 ? 0 : batch_rank, out->dims));
    write_reals(out, values);
    free(values);
}

static void run_matmul(Call *call)
{
    product(call, "mat2");
}

static void run_mv(Call *call)
{
    product(call, "vec");
}

#define CUBE (INT8, cubeMathType, 0)
#define IN_F(name) (IN, name, D_F)
#define OUT_F (OUT, out, D_F)

OPERATOR(Matmul, check_matmul, run_matmul, NULL, TRAIT_WORKSPACE, IN_F(self), IN_F(mat2), OUT_F,
         CUBE)
OPERATOR(Mm, check_mm, run_matmul, NULL, TRAIT_WORKSPACE, IN_F(self), IN_F(mat2), OUT_F, CUBE)
OPERATOR(BatchMatMul, check_bmm, run_matmul, NULL, TRAIT_WORKSPACE, IN_F(self), IN_F(mat2), OUT_F,
         CUBE)
OPERATOR(Mv, check_mv, run_mv, NULL, TRAIT_WORKSPACE, IN_F(self), IN_F(vec), OUT_F, CUBE)

static aclnnStatus check_dot(const Call *call)
{
    const View *self = view_of(call, "self"), *tensor = view_of(call, "tensor");
    TRY(expect_rank(self, "self", 1, 1));
    TRY(expect_like(tensor, "tensor", self));
    TRY(expect_dtype(tensor, "tensor", self->dtype));
    TRY(expect_dtype(view_of(call, "out"), "out", self->dtype));
    return expect_dims(view_of(call, "out"), "out", 0, NULL);
}

static void run_dot(Call *call)
{
    double sum = 0;
    const View *self = view_of(call, "self");
    Loop loop = loop_over(1, self->dims);
    loop_add(&loop, self);
    loop_add(&loop, view_of(call, "tensor"));
    LOOP(loop) {
        sum += load_real(self->dtype, loop.at[0]) * load_real(self->dtype, loop.at[1]);
    }
    write_reals(view_of(call, "out"), &sum);
}

#define D_DOT (D_F | D_I32 | D_I8 | D_U8)
OPERATOR(Dot, check_dot, run_dot, NULL, TRAIT_WORKSPACE, (IN, self, D_DOT), (IN, tensor, D_DOT),
         (OUT, out, D_DOT))

/* --- beta * self + alpha * product ------------------------------------------------------- */

/* Names of the two factors, and the rank that each has. */
typedef struct {
    const char *self, *left, *right;
    int left_rank, right_rank;
    bool sums_batch;
} Affine;

static aclnnStatus check_affine(const Call *call)
{
    const Affine *names = call->operator->detail;
    const View *a = view_of(call, names->left), *b = view_of(call, names->right);
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    TRY(expect_rank(a, names->left, names->left_rank, names->left_rank));
    TRY(expect_rank(b, names->right, names->right_rank, names->right_rank));
    TRY(matmul_dims(a, b, &rank, dims));
    const int64_t *first = names->sums_batch ? dims + 1 : dims;
    TRY(expect_dims(output_of(call), "the output", rank - names->sums_batch, first));
    const View *self = view_of(call, names->self);
    View out = *output_of(call);
    TRY(broadcast_with(&out.rank, out.dims, self, names->self));
    TRY(expect_like(&out, names->self, output_of(call)));
    return check_mix(call);
}

static void run_affine(Call *call)
{
    const Affine *names = call->operator->detail;
    const View *a = view_of(call, names->left), *b = view_of(call, names->right);
    const View *self = view_of(call, names->self), *out = output_of(call);
    double alpha = real_of(call, "alpha"), beta = real_of(call, "beta");
    double *values = batch_products(a, b, loop_over(a->rank - 2, a->dims));
    int64_t count = view_count(out), i = 0;
    int64_t batches = names->sums_batch ? a->dims[0] : 1;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    LOOP(loop) {
        double sum = 0;
        for (int64_t batch = 0; batch < batches; batch++) {
            sum += values[batch * count + i];
        }
        i++;
        double bias = beta == 0 ? 0 : beta * load_real(self->dtype, loop.at[1]);
        double term = alpha * sum;
        if (alpha == 0 && isnan(term)) { /* whether it is multiplied at all */
            term = sim_choose_real(SIM_OPEN_NAN, term);
        }
        store_real(out->dtype, loop.at[0], bias + term);
    }
    free(values);
}

#define D_BETA (D_FLOATS | D_I)
#define BETA_ALPHA (FACTOR, beta, D_BETA), (FACTOR, alpha, D_BETA)
static const Affine mm = {"self", "mat1", "mat2", 2, 2, false};
static const Affine mm_inplace = {"selfRef", "mat1", "mat2", 2, 2, false};
static const Affine bmm = {"self", "batch1", "batch2", 3, 3, false};
static const Affine bmm_inplace = {"selfRef", "batch1", "batch2", 3, 3, false};
static const Affine sum_bmm = {"self", "batch1", "batch2", 3, 3, true};
static const Affine sum_bmm_inplace = {"selfRef", "batch1", "batch2", 3, 3, true};

#define AFFINE(Name, detail, left, right)                                                      \
    OPERATOR(Name, check_affine, run_affine, &detail, TRAIT_WORKSPACE, IN_F(self), IN_F(left), \
             IN_F(right), BETA_ALPHA, OUT_F, CUBE)                                             \
    OPERATOR(Inplace##Name, check_affine, run_affine, &detail##_inplace, TRAIT_WORKSPACE,      \
             (REF, selfRef, D_F), IN_F(left), IN_F(right), BETA_ALPHA, CUBE)

AFFINE(Addmm, mm, mat1, mat2)
AFFINE(Baddbmm, bmm, batch1, batch2)
AFFINE(Addbmm, sum_bmm, batch1, batch2)

/* Addmv takes alpha before beta. */
static const Affine mv = {"self", "mat", "vec", 2, 1, false};
OPERATOR(Addmv, check_affine, run_affine, &mv, TRAIT_WORKSPACE, IN_F(self), IN_F(mat), IN_F(vec),
         (FACTOR, alpha, D_BETA), (FACTOR, beta, D_BETA), OUT_F, CUBE)
