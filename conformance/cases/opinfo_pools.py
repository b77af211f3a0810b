"""Which of torch's samples are cases: operators with kernels, and what no comparison is fit for.

Names are OpInfo's own: the function, and of several ways to test it which.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Final

from conformance.cases.opinfo_matrices import is_comparable
from conformance.names import words

if TYPE_CHECKING:
    from mindtorch_v2.profile.sections import Sample

OPERATORS: Final = words("""
    H T abs acos add addbmm addcdiv addcmul addmm addmm_decomposed addmv addr alias_copy all
    amax amin aminmax any arange argmax argmin argsort as_strided as_strided_copy
    as_strided_partial_views as_strided_scatter asin atan atan2 baddbmm bernoulli bfloat16
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor
    bmm bool broadcast_tensors broadcast_to byte cat cdouble ceil cfloat char chunk clamp
    clamp_max clamp_min clone conj contiguous copysign corrcoef cos cosh count_nonzero cov cummax
    cummin cumprod cumsum diagonal diagonal_copy diagonal_scatter div_floor_rounding
    div_no_rounding_mode
    dist div_trunc_rounding dot double empty empty_like empty_strided eq erf exp exp2 expand
    expand_as expand_copy expm1 eye fill flatten flip float floor floor_divide fmax fmin
    fmod frac full full_like gather ge __getitem__ gt half imag index_add index_copy index_fill
    index_put index_select int isfinite isinf isnan item kron le lerp linalg_vector_norm log log10
    log1p log2 log_softmax log_softmax_with_dtype logical_and logical_not logical_or logical_xor
    logsumexp long lt mH mT masked_fill masked_scatter masked_select matmul max_binary
    max_reduction_no_dim max_reduction_with_dim maximum mean median min_binary
    min_reduction_no_dim min_reduction_with_dim minimum mm movedim mul mv nanmean nanmedian
    nansum narrow narrow_copy native_dropout_backward native_layer_norm ne neg new_empty
    new_empty_strided new_full new_ones new_zeros nn_functional_conv2d
    nn_functional_cross_entropy nn_functional_dropout nn_functional_embedding
    nn_functional_gelu nn_functional_l1_loss nn_functional_layer_norm
    nn_functional_leaky_relu nn_functional_linear nn_functional_max_pool2d
    nn_functional_mse_loss nn_functional_nll_loss nn_functional_relu nn_functional_silu
    nn_functional_silu_complex nonzero nonzero_static norm norm_fro norm_inf normal
    normal_in_place
    normal_number_mean ones ones_like outer permute permute_copy pow prod put __radd__
    __rand__ randint randint_like rand_like randn randn_like ravel __rdiv__ real reciprocal
    remainder repeat reshape reshape_as resize_ resize_as_ resolve_conj resolve_neg __rmatmul__
    __rmod__ __rmul__ roll __ror__ round round_decimals_0 round_decimals_3
    round_decimals_neg_3 __rpow__ rsqrt __rsub__ rsub __rxor__ scalar_tensor scatter
    scatter_add select select_scatter sgn short sigmoid sign sin sinh
    slice softmax _softmax_backward_data softmax_with_dtype sort split split_list_args
    split_with_sizes split_with_sizes_copy sqrt square squeeze squeeze_copy squeeze_multiple
    stack std std_mean std_mean_unbiased std_unbiased sub sum t t_copy take tan tanh
    tensor_split topk trace transpose transpose_copy tril triu true_divide trunc unbind
    dsplit hsplit vsplit
    unbind_copy unflatten unfold unfold_copy uniform unsqueeze unsqueeze_copy var var_mean
    var_mean_unbiased var_unbiased vdot view view_as view_as_complex view_as_real view_copy
    where zero_ zeros zeros_like
    exponential constant_pad_nd multinomial inner linspace linspace_tensor_overload
    native_batch_norm _native_batch_norm_legit _batch_norm_with_update nn_functional_batch_norm
    nn_functional_conv1d nn_functional_conv3d nn_functional_conv_transpose1d
    nn_functional_conv_transpose2d nn_functional_conv_transpose3d kthvalue logcumsumexp mode
    allclose argwhere atleast_1d atleast_2d atleast_3d column_stack cross diag diag_embed diagflat
    dstack equal fliplr flipud hstack isclose isreal linalg_cross meshgrid_list_of_tensors
    meshgrid_variadic_tensors nn_functional_one_hot nn_functional_pad_constant positive
    repeat_interleave take_along_dim tile vstack rot90 unsafe_chunk unsafe_split
    unique unique_consecutive
    nn_functional_elu nn_functional_celu nn_functional_selu nn_functional_hardtanh
    nn_functional_relu6 nn_functional_mish nn_functional_hardsigmoid nn_functional_hardswish
    nn_functional_threshold nn_functional_glu nn_functional_softsign nn_functional_tanhshrink
    nn_functional_softmin nn_functional_softmin_with_dtype nn_functional_softplus
    nn_functional_softshrink nn_functional_hardshrink nn_functional_prelu
    nn_functional_logsigmoid nn_functional_smooth_l1_loss nn_functional_huber_loss
    nn_functional_kl_div nn_functional_binary_cross_entropy
    nn_functional_binary_cross_entropy_with_logits nn_functional_hinge_embedding_loss
    nn_functional_margin_ranking_loss nn_functional_poisson_nll_loss
    tril_indices triu_indices nn_functional_pad_circular diff tensordot unravel_index
    broadcast_shapes
    hypot logaddexp logaddexp2 logit nan_to_num polar rad2deg deg2rad ldexp float_power
    acosh asinh atanh erfc lgamma digamma sinc isposinf isneginf signbit heaviside gcd lcm nextafter
    xlogy polygamma_polygamma_n_0 polygamma_polygamma_n_1 polygamma_polygamma_n_2
    polygamma_polygamma_n_3 polygamma_polygamma_n_4 special_polygamma_special_polygamma_n_0
    msort einsum quantile nanquantile cartesian_prod combinations gradient trapezoid trapz
    cumulative_trapezoid linalg_vander empty_permuted bincount block_diag complex
    scatter_reduce_sum scatter_reduce_prod scatter_reduce_mean scatter_reduce_amin
    scatter_reduce_amax isin histc searchsorted bucketize
    angle conj_physical frexp nn_functional_pairwise_distance
    nn_functional_pixel_shuffle nn_functional_pixel_unshuffle
    nn_functional_avg_pool1d nn_functional_avg_pool2d nn_functional_adaptive_avg_pool1d
    nn_functional_adaptive_avg_pool2d
    nn_functional_group_norm native_group_norm
    nn_functional_pad_reflect nn_functional_pad_replicate nn_functional_pad_replicate_negative
    nn_functional_unfold
    cauchy geometric log_normal logspace logspace_tensor_overload renorm erfinv linalg_diagonal
    linalg_multi_dot special_xlog1py index_reduce_prod index_reduce_mean index_reduce_amin
    index_reduce_amax
    nn_functional_adaptive_avg_pool3d nn_functional_adaptive_max_pool1d
    nn_functional_adaptive_max_pool2d nn_functional_adaptive_max_pool3d nn_functional_avg_pool3d
    nn_functional_max_pool1d nn_functional_max_pool3d nn_functional_max_unpool1d
    nn_functional_max_unpool1d_grad nn_functional_max_unpool2d nn_functional_max_unpool2d_grad
    nn_functional_max_unpool3d nn_functional_max_unpool3d_grad
    nn_functional_fractional_max_pool2d nn_functional_fractional_max_pool3d
    i0 igamma igammac special_i0e special_i1 special_i1e special_entr special_erfcx
    special_log_ndtr special_ndtr special_ndtri special_zeta mvlgamma_mvlgamma_p_1
    mvlgamma_mvlgamma_p_3 mvlgamma_mvlgamma_p_5 special_airy_ai special_bessel_j0
    special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0
    special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
    special_spherical_bessel_j0 special_chebyshev_polynomial_t special_chebyshev_polynomial_u
    special_chebyshev_polynomial_v special_chebyshev_polynomial_w
    special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
    special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l
    special_legendre_polynomial_p
    nn_functional_interpolate_nearest nn_functional_interpolate_nearest-exact
    nn_functional_interpolate_linear nn_functional_interpolate_bilinear
    nn_functional_interpolate_bicubic nn_functional_interpolate_trilinear
    nn_functional_interpolate_area
    nn_functional_upsample_nearest nn_functional_upsample_bilinear
    nn_functional_grid_sample grid_sampler_2d grid_sampler_3d
    nn_functional_gaussian_nll_loss nn_functional_multilabel_soft_margin_loss
    nn_functional_normalize nn_functional_alpha_dropout nn_functional_dropout2d
    nn_functional_feature_alpha_dropout_without_train nn_functional_instance_norm
    nn_functional_local_response_norm nn_functional_triplet_margin_with_distance_loss
    nn_functional_soft_margin_loss nn_functional_multi_margin_loss
    nn_functional_multilabel_margin_loss nn_functional_triplet_margin_loss
    nn_functional_cosine_embedding_loss nn_functional_rrelu nn_functional_rms_norm
    nn_functional_channel_shuffle
    nn_functional_cosine_similarity nn_functional_pdist cdist nn_functional_bilinear
    sum_to_size chalf _chunk_cat _unsafe_masked_index _unsafe_masked_index_put_accumulate
    hash_tensor nn_functional_scaled_dot_product_attention
    torch_ops_aten__safe_softmax_default nn_functional_multi_head_attention_forward
    nn_functional_embedding_bag
    fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_hfft fft_hfft2 fft_hfftn
    fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn
    fft_fftshift fft_ifftshift stft istft histogram histogramdd
    _segment_reduce_lengths _segment_reduce_offsets
    linalg_vecdot linalg_norm linalg_norm_subgradients_at_zero linalg_matrix_norm norm_nuc linalg_qr
    qr geqrf linalg_householder_product ormqr linalg_svd linalg_svdvals svd linalg_eig
    linalg_eigvals linalg_eigh linalg_eigvalsh linalg_matrix_rank linalg_matrix_rank_hermitian
    linalg_pinv linalg_pinv_hermitian pinverse matrix_exp linalg_lstsq linalg_lstsq_grad_oriented
    linalg_cond
    linalg_det linalg_det_singular linalg_slogdet logdet linalg_inv linalg_inv_ex linalg_solve
    linalg_solve_ex linalg_solve_triangular triangular_solve lu linalg_lu linalg_lu_factor
    linalg_lu_factor_ex lu_solve linalg_lu_solve lu_unpack linalg_ldl_factor linalg_ldl_factor_ex
    linalg_ldl_solve linalg_tensorinv linalg_tensorsolve linalg_matrix_power cholesky
    cholesky_inverse cholesky_solve linalg_cholesky linalg_cholesky_ex""")
"""Those that mindtorch_v2 computes.  A test asks it about all others: one that has got kernels and
is not here fails."""

ELSEWHERE: Final = words("""
    to_sparse bmm_triton_optimized signal_windows_bartlett signal_windows_blackman
    signal_windows_cosine signal_windows_exponential signal_windows_gaussian
    signal_windows_general_cosine signal_windows_general_hamming signal_windows_hamming
    signal_windows_hann signal_windows_kaiser signal_windows_nuttall""")
"""Those that it computes as well: sparse tensors have no kernels yet but this one, the results of
the next are too large to be shown, of windows there is but what one without points calls."""

UNINITIALISED: Final = words("""
    empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize_
    resize_as_""")
"""Their values are what memory holds, so they run on meta alone."""

WRITTEN_OUTSIDE: Final = words("linalg_eigvalsh narrow_copy nn_functional_avg_pool3d")
"""They write past the end of an output that is their input, or that has fewer elements in memory
than it shows, as glibc's ``malloc.check`` tells: whatever runs behind them may die of it."""

ROUNDED: Final[Mapping[str, tuple[str, ...]]] = {
    "nn_functional_gelu": ("float16", "float32"),
    "nn_functional_group_norm": ("float32",),
    "special_ndtr": ("float32", "float64"),
    "nn_functional_cosine_embedding_loss": ("float32",),
    **dict.fromkeys(
        words(
            "linalg_householder_product linalg_lstsq linalg_lstsq_grad_oriented linalg_pinv "
            "linalg_pinv_hermitian pinverse matrix_exp"
        ),
        ("float32", "complex64"),
    ),
    **dict.fromkeys(
        words(
            "nn_functional_conv_transpose1d nn_functional_conv_transpose2d "
            "nn_functional_conv_transpose3d"
        ),
        ("bfloat16",),
    ),
    "nn_functional_interpolate_bicubic": ("float32",),
    "nn_functional_interpolate_trilinear": ("float32",),
}
"""Dtypes in which torch itself answers otherwise with another vector unit, asked with
ATEN_CPU_CAPABILITY and ONEDNN_MAX_CPU_ISA.  These run on meta alone.

- gelu by the error function: oneDNN has another polynomial for AVX512 than for AVX2, and of half
  precision one for the vectors and the C library's for the elements left over, which are fewer of
  shorter vectors; one and that function nearly cancel.  By tanh it is the same everywhere
  (`EXACTLY`).
- transposed convolutions in bfloat16: with units for that dtype sums are rounded on the way.
- ndtr far below nought: MKL has an error function for AVX512 and another for AVX2, of doubles torch
  has vectors of two lengths, and one is added to a value close to minus one.
- group norms: means are added up in as many sums as a vector has elements, and what is left where
  an element is nearly the bias is the mean's last digit.
- interpolation by many pixels: which of the products a compiler adds up unrounded is another matter
  in each build, and pixels of both signs nearly cancel.
- cosine embedding losses: the last digit of MKL's square root is another with MKL_CBWR, and it is
  what is left of one less a cosine of nearly one.
- products of reflections, solutions of least squares and pseudo-inverses: MKL adds up in another
  order with MKL_CBWR, and what is left where terms cancel is few digits; so it is of exponentials,
  which 2.4 and 2.13 multiply up in two orders.
"""

EXACTLY: Final[Mapping[str, str]] = {"nn_functional_gelu": "approximate='tanh'"}
"""With this argument they are not `ROUNDED`."""

CANCELLED: Final = words("""
    native_layer_norm nn_functional_layer_norm native_batch_norm _native_batch_norm_legit
    _batch_norm_with_update nn_functional_batch_norm nn_functional_group_norm
    native_group_norm nn_functional_instance_norm""")
"""Gradients of the sum of what is normalized are zero, but for rounding.  So they are of a sum in
which each element has another weight."""

SPECTRA: Final = words("""
    fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_hfft fft_hfft2 fft_hfftn
    fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn
    stft istft""")
"""Each element is a sum over all others of a row, and MKL's order of adding them up depends on the
vector unit.  Where they cancel, its last digits are the terms'; so results are shown beside a term
(`LARGE`)."""

WEIGHTED: Final = (
    CANCELLED
    | SPECTRA
    | words("""
    softmax softmax_with_dtype nn_functional_softmin nn_functional_softmin_with_dtype""")
)
"""So are these: the sum of a softmax is one, that of a spectrum is one element of the input."""

FACTORED: Final = words("""
    linalg_det linalg_slogdet logdet linalg_inv linalg_inv_ex linalg_solve linalg_solve_ex
    linalg_solve_triangular triangular_solve lu linalg_lu linalg_lu_factor linalg_lu_factor_ex
    lu_solve linalg_lu_solve linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve
    linalg_tensorinv linalg_tensorsolve linalg_matrix_power cholesky cholesky_inverse
    cholesky_solve linalg_cholesky linalg_cholesky_ex""")
"""Matrices that are written as a range of numbers have rows that nearly depend on each other: of
what solves, inverts or factors them nothing but rounding is left.  So these get a larger diagonal.
"""

SINGULAR: Final = words("linalg_det_singular")
"""The determinants are zero but for rounding, so these run on meta alone."""

MOVED: Final = words("linalg_tensorsolve")
"""With ``dims`` the matrix is made of other elements, and its diagonal is no larger than the rest:
these run on meta alone."""

CONSTANT: Final = 2
"""One number is normalized to zero, and two to one and minus one, whatever they are.  A vector of
one number has a length that makes it one or minus one."""

IN_STEP: Final = 4
"""So few pixels of a sample are steps of one size, and so are their weights: one is the other but
for scale and offset, of which normalization leaves nothing."""

NEARLY_FLAT: Final = words("""
    addbmm linalg_eigvalsh linalg_householder_product nn_functional_scaled_dot_product_attention
    std_mean tanh""")
"""Their gradients are small differences of large numbers, of which few digits are certain; so is,
in doubles, an element of addbmm's own sums, which MKL_CBWR has another order for.  The sum of all
eigenvalues is that of the diagonal, of which no other element has a say."""

UNCHECKED: Final = words("""
    native_batch_norm _native_batch_norm_legit _batch_norm_with_update
    nn_functional_pad_circular
    nn_functional_multi_margin_loss nn_functional_multilabel_margin_loss""")
"""They read weights and statistics by the input's channels without asking how many there are, so
a changed sample may read past a tensor's end; or fill what they have written nothing to with a copy
of it, where padding below zero leaves no element; or write nothing at all, where a mean of no
samples is asked for.  Changed samples run on meta alone."""

EXACT_DTYPES: Final = ("int64", "int32", "uint8", "bool")
"""Dtypes in which results have no digits that could differ."""

KEYWORDS: Final = ("nosuch=1", "dim=0", "dtype=xp.int64", "keepdim=True", "out=None", "alpha=2")
"""What a drawn call has too many."""


def has_values(name: str, sample: Sample) -> bool:
    """Whether what comes out on the CPU can be compared."""
    is_rounded = sample["dtype"] in ROUNDED.get(name, ())
    is_exact = EXACTLY.get(name) in sample["arguments"]
    if name in UNINITIALISED | SINGULAR or (is_rounded and not is_exact):
        return False
    return is_comparable(name, sample) and not _is_moved(name, sample)


def _is_moved(name: str, sample: Sample) -> bool:
    return name in MOVED and any(text.startswith("dims=(") for text in sample["arguments"])


def has_gradients(name: str, sample: Sample) -> bool:
    """Whether gradients can be compared."""
    if "differentiable" not in sample or name in NEARLY_FLAT | SINGULAR or _is_moved(name, sample):
        return False
    if not is_comparable(name, sample):
        return False
    shape = sample["tensors"][0]["shape"]
    if name == "nn_functional_instance_norm":
        return prod(shape[2:]) > IN_STEP
    if name == "nn_functional_normalize":
        return len(shape) > 0 and shape[_dim(sample, default=1)] > 1
    return "layer_norm" not in name or shape[-1] > CONSTANT


def _dim(sample: Sample, default: int) -> int:
    """The dimension that a sample is about."""
    given = [each for each in sample["arguments"] if each.startswith("dim=")]
    return int(given[0].removeprefix("dim=")) if given else default
