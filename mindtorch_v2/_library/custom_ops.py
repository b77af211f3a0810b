"""Functions that become operators: ``torch.library.custom_op``.

Mirrors ``torch/_library/custom_ops.py``.
"""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from mindtorch_v2 import _C
from mindtorch_v2._library import autograd, utils
from mindtorch_v2._library.autocast import autocast_kernel, autocast_key, check_autocast_available
from mindtorch_v2._library.infer_schema import infer_schema
from mindtorch_v2._library.release import as_released, does, exposed, fact, has, released_class
from mindtorch_v2._library.vmap import vmap_kernel
from mindtorch_v2._operator_bindings import Tag
from mindtorch_v2._ops import OpOverload

DeviceTypes = str | Sequence[str] | None

_NORMALIZES_TAGS: Final = does("custom_op takes a tag that is in no list")


def _normalize_tags(tags: Any) -> Any:
    """Each tag once, also of one that is no list; older releases leave them as they are."""
    if tags is None:
        return ()
    if not _NORMALIZES_TAGS:
        return tags
    return tuple(dict.fromkeys((tags,) if isinstance(tags, Tag) else tags))


@exposed
@as_released
def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator of a function, whose schema is inferred from its type hints if not given.

    ValueError if the function, its hints or ``mutates_args`` do not suit.
    """

    def inner(fn: Callable[..., Any]) -> CustomOpDef:
        wanted = _normalize_tags(tags)
        text = schema
        if text is None:
            text = infer_schema(fn, mutates_args=mutates_args, tags=wanted)
        namespace, opname = name.split("::")
        result = CustomOpDef(namespace, opname, text, fn, wanted)
        if schema is not None:
            _check_mutated(result, mutates_args, schema)
        result.register_kernel(device_types)(fn)
        return result

    return inner if fn is None else inner(fn)


def _check_mutated(op: CustomOpDef, mutates_args: Any, schema: str) -> None:
    """That the schema mutates what was said."""
    expected = {each.name for each in op._opoverload._schema.arguments if utils.is_written(each)}
    if expected != set(mutates_args):
        raise ValueError(
            f"Attempted to create a custom op with `mutates_args={mutates_args}` "
            f"and `schema={schema}. The schema suggests that the op mutates {expected}"
            "which is different from what was provided to us in `mutates_args`. "
            "Please make these consistent."
        )


class CustomOpDef:
    """An operator, the function that it was made of, and what was registered for it since."""

    def __init__(
        self,
        namespace: str,
        name: str,
        schema: str,
        fn: Callable[..., Any],
        tags: Any = None,
    ) -> None:
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._tags = _normalize_tags(tags)
        self._init_fn = fn
        self._backend_fns: dict[str | None, Callable[..., Any]] = {}
        self._abstract_fn: Callable[..., Any] | None = None
        self._setup_context_fn: Callable[..., Any] | None = None
        self._backward_fn: Callable[..., Any] | None = None
        self._torch_dispatch_fns: dict[type, Callable[..., Any]] = {}
        self._vmap_fn: Callable[..., Any] | None = None
        self._autocast_dtype: dict[str, Any] = {}
        self._disabled_kernel: set[str | None] = set()
        self._lib = get_library_allowing_overwrite(namespace, name)
        self._opoverload = _define(self)
        _register_kernels(self)
        self._opoverload._enable_pyobj_dispatch()
        OPDEFS[self._qualname] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(
        self, device_types: DeviceTypes, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Give it a kernel for types of devices, or for all of them."""

        def inner(fn: Callable[..., Any]) -> Callable[..., Any]:
            is_one = device_types is None or isinstance(device_types, str)
            types: list[Any] = [device_types] if is_one else list(device_types or ())
            for device_type in types:
                # As in torch, all kernels of this call are those of the loop's last type.
                if device_type not in self._backend_fns:
                    _register_backend(self, device_type, lambda: device_type)  # noqa: B023
                self._backend_fns[device_type] = _switched(self, lambda: device_type, fn)  # noqa: B023
            return fn

        if device_types is not None and does("a kernel of a device without tensors needs a device"):
            _select_by_device(self)
        return inner if fn is None else inner(fn)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Inside, the kernel of a type of device runs or the function itself does."""
        from logging import getLogger  # late: nothing else here needs it

        log = getLogger(__name__)
        action = "enable" if enabled else "disable"
        was_disabled = device_type in self._disabled_kernel
        if device_type not in self._backend_fns:
            log.warning(
                "Attempted to %s kernel for %s but no kernel was registered for this device type.",
                action,
                device_type,
            )
        if not enabled and was_disabled:
            log.warning(
                "Attempted to disable kernel for %s but it was already disabled.", device_type
            )
        elif enabled and not was_disabled:
            log.warning(
                "Attempted to enable kernel for  %s but it was already enabled.", device_type
            )
        elif enabled:
            self._disabled_kernel.remove(device_type)
        else:
            self._disabled_kernel.add(device_type)
        try:
            yield
        finally:
            if was_disabled:
                self._disabled_kernel.add(device_type)
            else:
                self._disabled_kernel.discard(device_type)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """What it does with tensors that have no data."""
        is_inplace = utils.is_inplace(self._opoverload)
        if is_inplace or utils.is_out(self._opoverload):
            tag = "torch.Tag.inplace" if is_inplace else "torch.Tag.out"
            warnings.warn(
                f"The fake registration for {self} is unnecessary. Custom ops tagged with {tag} "
                "already get an autogenerated fake kernel. The provided fake impl will be used "
                "instead.",
                stacklevel=2,
            )
        self._abstract_fn = fn
        return fn

    def register_torch_dispatch(
        self, torch_dispatch_class: Any, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """What it does for a class with ``__torch_dispatch__``, a mode or a subclass."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            if torch_dispatch_class not in self._torch_dispatch_fns:

                def inner(*args: Any, **kwargs: Any) -> Any:
                    return self._torch_dispatch_fns[torch_dispatch_class](*args, **kwargs)

                self._lib._register_torch_dispatch_rule(self._name, torch_dispatch_class, inner)
            self._torch_dispatch_fns[torch_dispatch_class] = fn
            return fn

        return register if fn is None else register(fn)

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Its formula; RuntimeError unless it mutates nothing and returns something new."""
        if utils.is_out(self._opoverload):
            raise RuntimeError(
                "Cannot register autograd formula for operator tagged with torch.Tag.out: "
                f"{self}. Out variants do not support autograd."
            )
        views = does("an operator that views may have an autograd formula")
        schema = self._opoverload._schema
        if not utils.is_functional_schema(schema, allow_valid_view=views):
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema "
                f"{schema}. Please create a functional operator and register an autograd formula "
                "for that."
            )
        self._backward_fn = backward
        self._setup_context_fn = setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """What ``torch.vmap`` does with it."""

        def register(func: Callable[..., Any]) -> None:
            is_new = self._vmap_fn is None
            self._vmap_fn = func
            if is_new:
                kernel = vmap_kernel(self._opoverload, lambda: self._vmap_fn)
                self._lib.impl(self._name, kernel, "FuncTorchBatched", with_keyset=True)

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> Callable[..., Any]:
        """Run it with floating-point inputs cast, where autocast is on for a type of device."""
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        check_autocast_available(device_type)
        is_new = self._autocast_dtype.get(device_type) is None
        if is_new:
            self._autocast_dtype[device_type] = cast_inputs
        refusal = "autocast of a custom op with keywords"
        kernel = autocast_kernel(self, device_type, cast_inputs, refusal=refusal)
        if is_new:
            self._lib.impl(self._name, kernel, autocast_key(device_type), with_keyset=True)
        return kernel


released_class(CustomOpDef)


# --- registration with the dispatcher ---------------------------------------------------------


def _define(op: CustomOpDef) -> OpOverload:
    """Define the operator; NotImplementedError for tensors that are keywords only."""
    text = op._name + op._schema
    tagged_out = hasattr(Tag, "out") and Tag.out in op._tags
    if utils.has_kwarg_only_tensors(_C.parse_schema(text)) and not tagged_out:
        raise NotImplementedError(
            "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. "
            f"Got: {text}"
        )
    own = [getattr(Tag, name) for name in fact("custom_op_tags")]
    tags = [*own, *op._tags]
    op._lib.define(text, tags=_normalize_tags(tags))
    return utils.lookup_op(op._qualname)


def _register_kernels(op: CustomOpDef) -> None:
    """The kernels that every custom operator has, whatever it computes."""

    def fake_impl(*args: Any, **kwargs: Any) -> Any:
        if op._abstract_fn is not None:
            return op._abstract_fn(*args, **kwargs)
        if utils.can_generate_trivial_fake_impl(op._opoverload):
            return utils.generate_trivial_fake_impl(op._opoverload, *args, **kwargs)
        raise RuntimeError(
            f"There was no fake impl registered for {op}. This is necessary for "
            "torch.compile/export/fx tracing to work. Please use "
            f"`{op._init_fn.__name__}.register_fake` to add an fake impl."
        )

    op._lib._register_fake(op._name, fake_impl, _stacklevel=4)
    kernel = autograd.make_autograd_impl(op._opoverload, op)
    op._lib.impl(op._name, kernel, "Autograd", with_keyset=True)
    _register_adinplaceorview(op)


def _register_adinplaceorview(op: CustomOpDef) -> None:
    """Count the changes of what it mutates; C++ keeps track of what it views, where it does."""
    schema = op._opoverload._schema
    has_fallback = hasattr(op._lib.m, "register_ad_inplace_or_view_fallback")
    is_view = has_fallback and schema._is_view_op()
    if has_fallback and (is_view or schema.is_mutable):
        op._lib.m.register_ad_inplace_or_view_fallback(op._name)
    if not schema.is_mutable:
        return
    places, names = utils.mutated_args_kwargs(schema)
    tracked = _C._dispatch_get_computed_kernel_for_dispatch_key if is_view else None
    original = tracked(op._qualname, "ADInplaceOrView") if tracked else None
    excludes = does("a mutating custom op runs with ADInplaceOrView excluded")
    overload = op._opoverload
    # What a kernel refers to lives while it is registered, which is for as long as the process
    # does if a second operator of the name registers none for the key.
    kept = op if does("the kernels of a mutating custom op keep it alive") else None

    def adinplaceorview_impl(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        filled, named = utils.fill_defaults(schema, args, kwargs)
        written = [filled[place] for place in places] + [named[name] for name in names]
        for tensor in utils.iter_tensors(written, {}):
            tensor._versions.bump()
        if original is not None:
            return original.call_boxed(keyset, *args, **kwargs)
        below = keyset & _C._after_ADInplaceOrView_keyset
        with _C._AutoDispatchBelowADInplaceOrView() if excludes else nullcontext():
            return (kept._opoverload if kept else overload).redispatch(below, *args, **kwargs)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Warning only once for all operators")
        op._lib.impl(op._name, adinplaceorview_impl, "ADInplaceOrView", with_keyset=True)


def _register_backend(
    op: CustomOpDef, device_type: str | None, latest: Callable[[], str | None]
) -> None:
    """The kernel for a type of device, which checks what the function of the latest answers."""
    views_alias = does("an operator that views may answer an alias")

    def backend_impl(*args: Any, **kwargs: Any) -> Any:
        function = op._backend_fns[latest()]
        inputs = list(utils.iter_tensors(args, kwargs))
        result = function(*args, **kwargs)

        def get_module() -> Any:
            return inspect.getmodule(function)

        is_view = views_alias and op._opoverload._schema._is_view_op()
        if not _check_tagged(op, get_module, args, kwargs, result) and not is_view:
            utils.check_aliasing_constraint(op._name, inputs, result, get_module)
        return result

    key = "CompositeExplicitAutograd"
    if device_type is not None:
        key = _C._dispatch_key_for_device(device_type)
    op._lib.impl(op._name, backend_impl, key)


def _check_tagged(
    op: CustomOpDef,
    get_module: Callable[[], Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
) -> bool:
    """Whether its tag says what it returns; RuntimeError if it returns something else."""
    overload = op._opoverload
    tag, what = "", ""
    if utils.is_inplace(overload):
        tag, what, returns_it = "inplace", "first argument", result is args[0]
    elif utils.is_out(overload):
        _, names = utils.mutated_args_kwargs(overload._schema)
        results = (result,) if len(names) == 1 else result
        tag, what = "out", "mutable keyword-only arguments"
        returns_it = (
            isinstance(results, tuple)
            and len(results) == len(names)
            and all(one is kwargs[name] for one, name in zip(results, names, strict=True))
        )
    else:
        return False
    if not returns_it:
        raise RuntimeError(
            f"{op._name} (with implementation in {get_module()}): An operator tagged with "
            f"torch.Tag.{tag} must return its {what}."
        )
    return True


def _switched(
    op: CustomOpDef, latest: Callable[[], str | None], fn: Callable[..., Any]
) -> Callable[..., Any]:
    """``fn``, or the operator's own function while ``fn`` is disabled."""
    if not has("CustomOpDef.set_kernel_enabled"):
        return fn

    def wrapped_fn(*args: Any, **kwargs: Any) -> Any:
        is_disabled = latest() in op._disabled_kernel
        return (op._init_fn if is_disabled else fn)(*args, **kwargs)

    return wrapped_fn


def _select_by_device(op: CustomOpDef) -> None:
    """Of an operator without tensors, the kernel for the device that it is called with."""
    schema = op._opoverload._schema
    if utils.has_tensor_arg(schema):
        return
    index = utils.get_device_arg_index(schema)
    if index is None:
        raise ValueError(
            "Functions without tensor inputs are required to have a `device: torch.device` argument"
        )

    def backend_select(_: Any, *args: Any, **kwargs: Any) -> Any:
        device = args[index].type
        if device not in op._backend_fns:
            raise RuntimeError(
                f"{op._name} does not have a kernel registered for {device}. "
                "Please use register_kernel to do so."
            )
        key = getattr(_C.DispatchKey, _C._dispatch_key_for_device(device))
        keyset = _C.DispatchKeySet(key)  # type: ignore[call-arg]
        return op._opoverload.redispatch(keyset, *args, **kwargs)

    op._lib.impl(op._name, backend_select, "BackendSelect", with_keyset=True)


# --- custom operators by name -----------------------------------------------------------------

OPDEF_TO_LIB: Final[dict[str, Any]] = {}
OPDEFS: Final[weakref.WeakValueDictionary[str, CustomOpDef]] = weakref.WeakValueDictionary()


def get_library_allowing_overwrite(namespace: str, name: str) -> Any:
    """A library for one custom operator; that of an operator of the same name is destroyed."""
    from mindtorch_v2.library import Library

    qualname = f"{namespace}::{name}"
    if qualname in OPDEF_TO_LIB:
        OPDEF_TO_LIB[qualname]._destroy()
        del OPDEF_TO_LIB[qualname]
    library = Library(namespace, "FRAGMENT")
    OPDEF_TO_LIB[qualname] = library
    return library


def _maybe_get_opdef(op: CustomOpDef | OpOverload | str) -> CustomOpDef | None:
    """The custom operator of that name, if there is one."""
    if isinstance(op, CustomOpDef):
        return op
    name = op._name if isinstance(op, OpOverload) else op
    return OPDEFS.get(name)
