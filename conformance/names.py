"""The lists that a vocabulary is made of: what is never said, what Python and torch have to say.

Each name is judged by all that it reaches, in any module; see :mod:`conformance.vocabulary`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _grouped(groups: Mapping[str, str]) -> dict[str, str]:
    """Name to the title of its group."""
    return {name: title for title, names in groups.items() for name in names.split()}


# What no vocabulary has -------------------------------------------------------------------------

#: Why a name is never said, not even as an operator that may not exist: reason to names.
#: The first seven groups are in torch's own lists of functions, methods or operators.
NEVER: Final[Mapping[str, str]] = MappingProxyType(
    _grouped(
        {
            "opens files": """
                from_file save load load_tensor save_to load_from tofile fromfile dump
                share_memory_ read_file write_file memmap save_on_cpu
                set_logs export_chrome_trace export_stacks""",
            "takes an address, or makes a view whose bounds nobody checks": """
                _from_blob from_blob _reshape_alias _reinterpret_tensor _alloc_from_pool
                _nested_view_from_buffer _nested_view_from_jagged resize_storage_bytes_
                _sparse_coo_tensor_unsafe _sparse_compressed_tensor_unsafe
                _sparse_csr_tensor_unsafe _sparse_csc_tensor_unsafe _sparse_bsr_tensor_unsafe
                _sparse_bsc_tensor_unsafe _sparse_coo_tensor_with_dims_and_tensors
                _construct_storage_from_data_pointer _wrap_tensor_impl _unsafe_reset_storage""",
            "calls a function found by a string, or hands one out": """
                lookup_op resolve_name get_device_module
                set_default_tensor_type _set_default_tensor_type
                _maybe_call_torch_function_for_op_packet""",
            "makes directories and sets environment variables": "use_deterministic_algorithms",
            "sets or reads attributes by a string": """
                _reduce_ex_internal _rebuild_from_type_v2 _set_obj_state transform_subclass
                attrgetter methodcaller itemgetter getattr setattr""",
            "evaluates strings": """
                triton_op eval exec compile format format_map
                percentFormat CompilationUnit parse_ir""",
            "loads or compiles code": """
                load_library loaded_libraries import_module classes hub jit package
                cpp_extension impl_with_aoti_compile _impl_with_aoti_compile import_ir_module
                import_ir_module_from_buffer _dynamo _inductor _export export onnx script
                triton_kernel_wrapper_mutation triton_kernel_wrapper_functional wrap_triton""",
            "starts processes or threads, or talks to other machines": """
                multiprocessing distributed distributions rpc_async rpc_remote rpc_sync
                fork wait spawn popen system launch rpc init_process_group""",
            "lets a class answer to a protocol of C libraries": """
                _pybind11_conduit_v1_ _as_parameter_ _ivar""",
            "leads to frames, code or modules": """
                tb_frame tb_next f_globals f_locals f_builtins f_back f_code gi_frame gi_code
                cr_frame cr_code ag_frame ag_code func_globals func_code os sys subprocess
                importlib ctypes builtins warnings inspect threading socket shutil tempfile
                pickle copyreg marshal code codeop runpy pty platform pathlib io glob""",
        }
    )
)

#: Namespaces of operators that are refused whole: position 1 of ``xp.ops.<namespace>``.
NEVER_NAMESPACES: Final[Mapping[str, str]] = MappingProxyType(
    _grouped(
        {
            "runs compilers": "higher_order _higher_order_op_namespace",
            "talks to other processes": """
                c10d c10d_functional _c10d_functional _c10d_functional_autograd symm_mem
                _dtensor fsdp""",
            "reads files": "debugprims image",
            "views memory unchecked": "inductor",
            "is the interpreter's own, its operators pop what they like off its stack": """
                prim static_runtime""",
        }
    )
)

#: A word that keeps a name out unless somebody has judged it (``JUDGED``): what a later release
#: calls ``load_foo`` does not come in by itself.  Words are what underscores separate.
HARM: Final = words("""
    file filename files save load loads open read write path exec eval compile compiled import
    share shared ipc rpc fork spawn process system shell pickle unpickle dump dumps dlopen
    library libraries blob address ptr pointer url http download socket aoti aot jit script
    onnx distributed multiprocessing""")

#: Names with such a word that do no harm: reason to names.
JUDGED: Final[Mapping[str, str]] = MappingProxyType(
    _grouped(
        {
            "an address as an integer, which nothing here takes back": "data_ptr const_data_ptr",
            "registers and prints operators, opens nothing": """
                library Library _scoped_library _dispatch_library _dispatch_dump
                _dispatch_dump_table
                _dump_local_tls_set""",
            "reads schemas and operators": """
                _jit_get_all_schemas _jit_get_schemas_for_operator _jit_get_operation
                _jit_resolve_packet _check_schema_allow_fake_script_object is_write""",
            "asks or fills a tensor": "is_shared is_distributed module_load",
            "copies tensors from a dictionary": "load_state_dict",
            "keeps tensors for backward": "save_for_backward save_for_forward mark_shared_storage",
        }
    )
)


def refusal(name: str) -> str | None:
    """Why ``name`` cannot be an attribute a case says; None if nothing speaks against it."""
    if name.startswith("__"):
        return "its two leading underscores make it Python's own"
    if name in NEVER or name in NEVER_NAMESPACES:
        return NEVER.get(name) or NEVER_NAMESPACES[name]
    words = HARM.intersection(name.lower().split("_")) if name not in JUDGED else None
    if words:
        return f"nobody has judged a name with {min(words)!r} in it"
    return None


# Python -----------------------------------------------------------------------------------------

#: Left out although harmless-looking: ``getattr setattr delattr hasattr vars dir`` (attributes
#: by a string), ``format`` (the same), ``open input print breakpoint exec eval compile
#: __import__ globals locals`` (reach out), ``id`` (an address, different each time),
#: ``memoryview`` (raw memory), exceptions above ``Exception`` (the worker's own).  ``pow`` is in:
#: to leave it out would save nothing, for ``**`` writes the same numbers.
BUILTINS: Final = words("""
    int float bool complex str bytes bytearray list tuple dict set frozenset range slice object
    len repr abs min max sum round divmod pow sorted reversed enumerate zip map filter any all
    iter next isinstance issubclass type hash callable property super
    None True False Ellipsis NotImplemented
    Exception ArithmeticError AssertionError AttributeError DeprecationWarning EOFError
    FutureWarning IndexError KeyError LookupError MemoryError NameError NotImplementedError
    OSError OverflowError RecursionError RuntimeError RuntimeWarning StopIteration SyntaxError
    TypeError UnboundLocalError UnicodeError UserWarning ValueError Warning ZeroDivisionError""")

#: Builtins that stand nowhere but above a method.
DECORATORS: Final = words("classmethod staticmethod")

_OPERATOR_DUNDERS: Final = " ".join(
    f"__{prefix}{name}__"
    for name in words("add sub mul matmul truediv floordiv mod pow lshift rshift and or xor")
    for prefix in ("", "r", "i")
)

#: Names with two leading underscores that a class may define, and a case may say.
DEFINABLE: Final = words(f"""
    {_OPERATOR_DUNDERS} __divmod__ __rdivmod__ __neg__ __pos__ __abs__ __invert__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__
    __bool__ __int__ __index__ __float__ __complex__ __round__ __str__ __repr__
    __len__ __getitem__ __setitem__ __delitem__ __contains__ __iter__ __next__ __reversed__
    __call__ __enter__ __exit__ __init__ __new__ __torch_function__ __torch_dispatch__
    __tensor_flatten__ __tensor_unflatten__ __dlpack__ __dlpack_device__""")

#: Those that are only read.  The second line is of tensors: what Python 2 asked for, and what a
#: class must not define, or it answers to protocols of NumPy and of formatting.
READABLE: Final = words("""
    __members__ __name__ __qualname__ __module__ __doc__ __version__
    __div__ __rdiv__ __idiv__ __long__ __nonzero__ __array__ __format__""")

#: Methods of Python's own types.  Without ``format`` and ``format_map``, without ``encode`` and
#: ``decode`` (they import the codec that a string names), and without ``copy`` (see
#: `_NOT_THE_MODULE`).
PYTHON_ATTRIBUTES: Final = words("""
    append extend insert pop remove clear count index sort reverse
    keys values items get setdefault update popitem fromkeys
    add discard union intersection difference symmetric_difference issubset issuperset isdisjoint
    join split rsplit splitlines strip lstrip rstrip replace startswith endswith find lower upper
    title hex real imag conjugate numerator denominator bit_length is_integer
    start stop step args value getter setter add_note""")


# Torch ------------------------------------------------------------------------------------------

#: Modules by name; what they hold is reached by the names below.
MODULES: Final = words("""
    _C ops library utils _python_dispatch overrides autograd forward_ad graph function
    grad_mode nn functional linalg fft special sparse nested func testing
    _nn _fft _linalg _special _sparse _nested _functionalization _VariableFunctions _functions
    _functorch""")

#: dtypes, layouts, memory formats, and what else ``torch`` holds as plain values and types.
VALUES: Final = words("""
    float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 short int long
    uint8 uint16 uint32 uint64 bool complex32 complex64 complex128 chalf cfloat cdouble
    qint8 quint8 qint32 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16
    uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 int7
    float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2
    strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged _mkldnn
    contiguous_format preserve_format channels_last channels_last_3d
    per_tensor_affine per_channel_affine per_tensor_symmetric per_channel_symmetric
    per_channel_affine_float_qparams
    e pi inf nan newaxis Tensor Size device dtype layout memory_format qscheme finfo iinfo
    Generator default_generator Stream Tag SymInt SymFloat SymBool return_types
    FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor ShortTensor
    IntTensor LongTensor BoolTensor UntypedStorage TypedStorage Parameter
    FloatStorage LongStorage ByteStorage BoolStorage ComplexFloatStorage QInt8Storage
    OutOfMemoryError LinAlgError _LinAlgError""")

#: What of NumPy has no name above: ``np`` is a helper that holds its scalars and ``array``.
NUMPY: Final = words("bool_ str_ array")

#: Functions of ``torch`` that are Python, or bound by hand.
FUNCTIONS: Final = words("""
    tensor as_tensor asarray sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor
    sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor from_numpy from_dlpack to_dlpack
    frombuffer nested_tensor as_nested_tensor vander
    is_tensor is_storage is_floating_point is_complex is_nonzero is_same_size is_conj is_neg
    get_default_dtype set_default_dtype get_default_device typename can_cast promote_types
    result_type broadcast_tensors broadcast_shapes broadcast_to cartesian_prod cdist einsum
    tensordot meshgrid norm stft istft unique unique_consecutive block_diag chain_matmul
    atleast_1d atleast_2d atleast_3d vector_norm split align_tensors lobpcg svd_lowrank pca_lowrank
    unravel_index manual_seed seed initial_seed get_rng_state set_rng_state set_printoptions
    are_deterministic_algorithms_enabled
    autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache
    is_autocast_cache_enabled set_autocast_cache_enabled
    no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled
    is_inference_mode_enabled is_inference set_multithreading_enabled
    _to_functional_tensor _from_functional_tensor _is_functional_tensor _is_functional_tensor_base
    _freeze_functional_tensor _sync _enable_functionalization _disable_functionalization
    _functionalize_sync _functionalize_commit_update _functionalize_replace
    _functionalize_unsafe_set
    _functionalize_has_data_mutation _functionalize_has_metadata_mutation
    _functionalize_is_multi_output_view _functionalize_is_symbolic _functionalize_get_storage_size
    _functionalize_was_storage_changed _functionalize_mark_storage_changed
    _functionalize_storage_changed_counter _functionalize_mutation_counter
    _functionalize_are_all_mutations_hidden_from_autograd _functionalize_apply_view_metas
    _functionalize_are_all_mutations_under_no_grad_or_inference_mode
    _functionalize_mark_mutation_hidden_from_autograd _functionalize_enable_reapply_views
    _functionalize_was_inductor_storage_resized _functionalize_inductor_storage_resized_counter
    _wrap_functional_tensor _unwrap_functional_tensor _assert_wrapped_functional
    _propagate_functional_input_mutation _func_increment_nesting _func_decrement_nesting
    current_level maybe_current_level get_unwrapped maybe_get_level is_functionaltensor
    is_functorch_wrapped_tensor
    vmap functionalize vjp jvp jacrev jacfwd hessian grad_and_value
    sym_int sym_float sym_max sym_min sym_not sym_ite
    assert_close autocast is_autocast_enabled get_autocast_dtype
    is_autocast_cpu_enabled set_autocast_cpu_enabled get_autocast_cpu_dtype
    set_autocast_cpu_dtype is_autocast_gpu_enabled set_autocast_gpu_enabled
    get_autocast_gpu_dtype set_autocast_gpu_dtype multi_dot vecdot matrix_norm cond
    householder_product svdvals eig eigvals eigh eigvalsh matrix_rank pinv lstsq
    get_autocast_gpu_dtype set_autocast_gpu_dtype multi_dot
    inv inv_ex solve solve_ex solve_triangular lu lu_factor lu_factor_ex ldl_factor ldl_factor_ex
    ldl_solve tensorinv tensorsolve cholesky_ex
    is_autocast_ipu_enabled set_autocast_ipu_enabled get_autocast_ipu_dtype
    set_autocast_ipu_dtype is_autocast_xla_enabled set_autocast_xla_enabled
    get_autocast_xla_dtype set_autocast_xla_dtype is_autocast_hpu_enabled
    set_autocast_hpu_enabled get_autocast_hpu_dtype set_autocast_hpu_dtype
    is_autocast_xpu_enabled set_autocast_xpu_enabled get_autocast_xpu_dtype
    set_autocast_xpu_dtype
    relu softmax log_softmax linear conv1d conv2d conv3d embedding one_hot pad dropout
    cross_entropy mse_loss layer_norm batch_norm group_norm interpolate normalize
    xlog1py entr erf erfc erfcx erfinv exp2 expit expm1 gammainc
    gammaincc gammaln i0 i0e i1 i1e log_ndtr log1p logit multigammaln ndtr ndtri polygamma psi
    round sinc xlogy zeta airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0
    scaled_modified_bessel_k1 spherical_bessel_j0 chebyshev_polynomial_t chebyshev_polynomial_u
    chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t
    shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
    laguerre_polynomial_l legendre_polynomial_p
    cross_entropy mse_loss layer_norm batch_norm group_norm interpolate normalize xlog1py
    fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn
    rfft rfft2 rfftn fftfreq rfftfreq fftshift ifftshift
    _check _check_value _check_is_size""")

#: Properties of tensors, dtypes, devices, storages, arrays, generators.
PROPERTIES: Final = words("""
    T H mT mH data grad grad_fn grad_dtype dtype device layout shape ndim names requires_grad
    is_leaf itemsize nbytes real imag retains_grad output_nr name volatile
    is_cpu is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized
    is_sparse is_sparse_csr is_vulkan is_xla is_xpu _base _version _backward_hooks _is_view
    _cdata _grad _grad_fn _has_symbolic_sizes_strides _python_dispatch _make_subclass
    _make_wrapper_subclass _view_func _use_count _typed_storage untyped_storage storage untyped
    type data_ptr element_size index is_floating_point is_complex is_signed to_complex to_real
    bits eps max min tiny smallest_normal resolution
    new numpy tolist item to resize_ resizable fill_ copy_ from_buffer byteswap
    get_state set_state clone_state get_offset set_offset
    graphsafe_get_state graphsafe_set_state""")

#: Autograd: Function and its context, graph nodes, hooks, forward mode.
AUTOGRAD: Final = words("""
    Function forward backward setup_context apply jvp vjp vmap generate_vmap_rule
    save_for_backward save_for_forward saved_tensors saved_for_forward needs_input_grad mark_dirty
    _pt_metadata
    mark_non_differentiable set_materialize_grads materialize_grads once_differentiable
    dirty_tensors non_differentiable maybe_clear_saved_tensors register_hooks unpack
    unpack_hook is_leaf _is_view
    _register_hook_dict function is_grad_enabled set_grad_enabled enable_grad no_grad
    inference_mode is_inference_mode_enabled next_functions metadata register_hook
    register_prehook register_post_accumulate_grad_hook remove variable _saved_self _saved_other
    _saved_result _sequence_nr _input_metadata saved_tensors_hooks disable_saved_tensors_hooks
    Node get_gradient_edge increment_version _unsafe_preserve_version_counter
    allow_mutation_on_saved_tensors register_multi_grad_hook dual_level make_dual unpack_dual
    primal tangent enter_dual_level exit_dual_level detect_anomaly set_detect_anomaly
    is_anomaly_enabled is_anomaly_check_nan_enabled GradientEdge mark_shared_storage
    is_multithreading_enabled set_multithreading_enabled""")

#: Modules, losses and optimizers, and what is done with them.  ``eval`` is Python's: a case says
#: ``train(False)``.
NEURAL: Final = words("""
    init uniform_ normal_ constant_ ones_ zeros_ xavier_uniform_ xavier_normal_ kaiming_uniform_
    kaiming_normal_
    Module ModuleList Sequential Identity Flatten Linear Embedding LayerNorm Dropout Conv2d
    BatchNorm1d BatchNorm2d BatchNorm3d
    MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d AvgPool1d AvgPool2d AvgPool3d
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
    AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d
    ReLU GELU SiLU LeakyReLU Tanh Sigmoid Softmax LogSoftmax
    MSELoss L1Loss NLLLoss CrossEntropyLoss nll_loss l1_loss silu leaky_relu
    upsample upsample_nearest upsample_bilinear grid_sample affine_grid
    Upsample UpsamplingNearest2d UpsamplingBilinear2d
    softmin softsign tanhshrink hardsigmoid hardswish glu elu mish hardtanh relu6
    logsigmoid _threshold smooth_l1_loss huber_loss binary_cross_entropy
    max_unpool1d adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices
    adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices
    fractional_max_pool3d_with_indices
    multi_head_attention_forward embedding_bag
    weight bias training reset_parameters extra_repr append extend
    parameters named_parameters buffers named_buffers modules named_modules children
    named_children get_submodule register_parameter register_buffer add_module
    register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook train zero_grad requires_grad_ set_submodule
    module register_module_forward_hook register_module_forward_pre_hook
    register_module_full_backward_hook register_module_full_backward_pre_hook
    register_module_parameter_registration_hook register_module_buffer_registration_hook
    register_module_module_registration_hook _register_state_dict_hook
    state_dict load_state_dict clip_grad_value_ clip_grad_norm_ reset_running_stats
    optim SGD Adam AdamW Optimizer step param_groups add_param_group state
    ModuleDict Buffer register_module get_parameter get_buffer to_empty from_pretrained
    get_extra_state set_extra_state register_state_dict_pre_hook
    register_backward_hook call_super_init _metadata
    register_step_pre_hook register_step_post_hook register_state_dict_post_hook
    profile_hook_step defaults insert clear
    SoftMarginLoss MultiMarginLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss
    CTCLoss
    TripletMarginLoss TripletMarginWithDistanceLoss CosineEmbeddingLoss GaussianNLLLoss
    PairwiseDistance Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout RReLU
    InstanceNorm1d InstanceNorm2d InstanceNorm3d LocalResponseNorm RMSNorm ChannelShuffle
    dropout1d dropout2d dropout3d local_response_norm normalize
    gaussian_nll_loss multilabel_soft_margin_loss triplet_margin_with_distance_loss
    multi_margin_loss multilabel_margin_loss soft_margin_loss""")

#: Operators as objects, schemas, libraries, modes.
DISPATCH: Final = words("""
    overloads overloadpacket op default Tensor Scalar out name namespace tags redispatch decompose
    py_impl py_kernels has_kernel_for_dispatch_key has_kernel_for_any_dispatch_key
    _schema _overloadpacket _opname _overloadname _qualified_op_name _op _op_dk _handle
    _dispatch_cache _can_decompose _get_dispatch _uncache_dispatch _schemas _overload_names
    is_view _name
    arguments returns overload_name is_mutable is_vararg is_varret default_value
    has_default_value kwarg_only alias_info before_set after_set is_write is_out N real_type
    is_backward_compatible_with is_forward_compatible_with check_forward_compatible_with
    _is_view_op annotation_str kind str isSubtypeOf getElementType containedTypes scalarType
    has_argument may_alias may_contain_alias add_argument_value add_argument_values
    is_nondeterministic input output
    Library define impl fallback _destroy register_fake register_kernel register_autograd
    register_vmap register_torch_dispatch register_autocast impl_abstract fallthrough_kernel m ns
    custom_op infer_schema get_ctx get_kernel set_kernel_enabled kind dispatch_key
    _register_fake _register_torch_dispatch_rule _scoped_library _defined_in_python op_overloads
    schema debug redispatch_boxed call_boxed op_handle core pointwise inplace
    def_ def_legacy def_name_t_t def_schema_t_t impl_t_t fallback_fallthrough reset
    TorchDispatchMode TorchFunctionMode _get_current_dispatch_mode
    _get_current_dispatch_mode_stack _disable_current_modes _pop_mode_temporarily
    is_traceable_wrapper_subclass is_traceable_wrapper_subclass_type
    return_and_correct_aliasing get_alias_info alias_set args outs inplace_view
    handle_torch_function has_torch_function
    has_torch_function_unary has_torch_function_variadic is_tensor_like
    _python_dispatcher PythonDispatcher register registrations dispatchTable
    rawRegistrations rawDispatchTable
    enable_reentrant_dispatch BaseTorchDispatchMode BaseTorchFunctionMode
    is_in_torch_dispatch_mode is_infra_mode _push_mode _pop_mode push
    _get_current_function_mode _get_current_function_mode_stack _get_overloaded_args
    get_default_nowrap_functions wrap_torch_function is_tensor_method_or_property
    _enable_torch_function _mode_key _dispatch_key FUNCTIONAL PROXY FAKE
    ENABLED SUBCLASSES_DISABLED ALL_DISABLED
    _dispatch python enable_python_dispatcher
    has add remove highestPriorityTypeId raw_repr from_raw_repr value""")

#: Decided by this project: `pipeline` and `npu` are the two public names that torch has not.
EXTENSION: Final = words("pipeline flush pending npu is_available")

#: Names of ``torch._C`` start so: the dispatcher's introspection and thread-local switches; its
#: functionalization; guards, all of which restore what they found; schema objects.
#: ``_jit_``, ``_set_``, ``_get_``, ``_load_``, ``_import_`` are no prefixes to trust.
C_PREFIXES: Final = (
    "_dispatch_",
    "_functionalization_",
    "_Dispatch",
    "_AutoDispatchBelow",
    "_Schema",
    "DispatchKey",
)

#: Single names of ``torch._C``, by what they are for.
C_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    _grouped(
        {
            "guards: set thread-local state and put it back": """
                ExcludeDispatchKeyGuard _ExcludeDispatchKeyGuard _IncludeDispatchKeyGuard
                _ForceDispatchKeyGuard _PreserveDispatchKeyGuard _SetExcludeDispatchKeyGuard
                _DisableTorchDispatch _DisableFuncTorch _DisableAutocast
                _DisablePythonDispatcher _EnablePythonDispatcher _EnablePreDispatch
                _EnableTorchFunction _InferenceMode _RestorePythonTLSSnapshot
                DisableTorchFunction DisableTorchFunctionSubclass""",
            "keys and keysets": """
                _parse_dispatch_key _to_functionality_key _functionality_to_backend_keys
                _additional_keys_to_prop_for_wrapper_tensors _after_ADInplaceOrView_keyset
                _after_autograd_keyset _dump_local_tls_set _meta_in_tls_dispatch_include
                _set_meta_in_tls_dispatch_include _only_lift_cpu_tensors
                _set_only_lift_cpu_tensors""",
            "schemas: they parse and describe, and run nothing": """
                parse_schema FunctionSchema Argument _AliasInfo _get_schema
                _jit_get_all_schemas _jit_get_schemas_for_operator
                _check_schema_allow_fake_script_object
                Type TensorType AnyType BoolType ComplexType DeviceObjType DictType FloatType
                IntType ListType NoneType NumberType OptionalType StringType SymBoolType
                SymIntType TupleType UnionType StreamObjType _GeneratorType""",
            "operators by name; see `LITERAL_CALLS`": """
                _jit_get_operation _get_operation_overload _jit_resolve_packet""",
            "Python dispatch and torch functions": """
                _disabled_torch_function_impl _disabled_torch_dispatch_impl
                _has_torch_function _has_torch_function_unary _has_torch_function_variadic
                _is_torch_function_enabled _is_torch_function_mode_enabled
                _is_torch_function_all_disabled _len_torch_dispatch_stack
                _len_torch_function_stack _get_dispatch_stack_at _get_function_stack_at
                _get_dispatch_mode _set_dispatch_mode _unset_dispatch_mode
                _push_on_torch_dispatch_stack _pop_torch_dispatch_stack
                _push_on_torch_function_stack _pop_torch_function_stack
                _TorchDispatchModeKey _TorchFunctionState _get_torch_function_state
                _set_torch_function_state""",
            "tensors and autograd, seen from inside": """
                _is_alias_of _overlaps _is_cow_tensor _has_storage _increment_version
                _is_fwd_grad_enabled _set_fwd_grad_enabled _set_grad_enabled
                _is_multithreading_enabled _set_multithreading_enabled
                _get_deterministic_algorithms _get_deterministic_algorithms_warn_only
                _will_engine_execute_node
                _is_view_replay_enabled _set_view_replay_enabled _set_conj _set_neg
                _get_autograd_fallback_mode _set_autograd_fallback_mode
                _current_autograd_node _current_graph_task_execution_order _current_graph_task_id
                _group_tensors_by_device_and_dtype
                _infer_size _get_nested_int _should_allow_numbers_as_tensors _any_requires_grad
                _tensors_data_ptrs_at_indices_equal
                _enter_dual_level _exit_dual_level _get_privateuse1_backend_name TensorBase
                _TensorBase _FunctionBase""",
        }
    )
)

#: What a case may set, and delete.  No module, class or operator of torch keeps its own state under
#: these; tensors do, and refuse some.
SETTABLE: Final = words("""
    requires_grad grad data names real imag elem inner calls seen _mode_key
    branch gain tally unkept rectify fresh
    _grad _grad_fn grad_dtype volatile T H mT mH shape ndim is_leaf is_cuda grad_fn output_nr
    retains_grad _base _version _backward_hooks _materialize_non_diff_grads needs_input_grad
    _pt_metadata""")
