"""What functional tensors that are views of each other share: a base, and changes to apply to it.

Mirrors ``aten/src/ATen/FunctionalStorageImpl.h`` and ``.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from weakref import ref

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit, mask_of
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.geometry import storage_bytes
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor

FUNCTIONALIZE: Final = functionality_bit(DispatchKey.Functionalize)
_KEY: Final = mask_of(DispatchKey.Functionalize)


def skip_functionalize() -> tls.guarded:
    """``AutoDispatchSkipFunctionalize``: calls in the block go to what is below."""
    return tls.guarded(tls.ExcludeDispatchKeyGuard, _KEY)


class ViewMeta(NamedTuple):
    """How a view is made of its base, and a changed base of its changed view.

    ``forward`` is called with the base and the index among the outputs, ``reverse`` with the base,
    the changed view and the index.
    """

    forward: Callable[[Any, int], Any]
    reverse: Callable[[Any, Any, int], Any]
    is_multi_output: bool = False
    is_as_strided: bool = False
    out_index: int = 0

    def to_out_index(self, index: int) -> ViewMeta:
        return self if index == self.out_index else self._replace(out_index=index)

    def view_of(self, base: Any) -> Any:
        return self.forward(base, self.out_index)

    def base_of(self, base: Any, changed: Any) -> Any:
        return self.reverse(base, changed, self.out_index)


class Update(NamedTuple):
    """A tensor's new value, and how that tensor is a view of the base."""

    value: Tensor
    metas: tuple[ViewMeta, ...]

    def applied_to(self, base: Tensor) -> Tensor:
        """The base once it has the update; see Note [Functionalization: Alias Removal Part 2]."""
        bases = [base]
        for meta in self.metas[:-1]:
            bases.append(meta.view_of(bases[-1]))
        changed = self.value
        for meta, each in zip(reversed(self.metas), reversed(bases), strict=False):
            changed = meta.base_of(each, changed)
        return changed


class FunctionalStorageImpl:
    """``untyped`` is the storage that the tensors show: a size, and no memory."""

    def __init__(self, base: Tensor) -> None:
        self.base = base
        self.generation = 0
        self.mutation_counter = 0
        self.hidden_from_autograd = 0
        self.under_no_grad = 0
        self.inductor_storage_resized_counter = 0
        stored = base._storage
        self.original_size = -1 if stored is None else stored.nbytes()
        self.untyped = UntypedStorage._without_memory(_nbytes(base), base._device)
        self._updates: list[Update] = []
        self._frozen = False
        self._tensors: list[ref[Tensor]] = []

    # --- who has it ---------------------------------------------------------------------------

    def give_to(self, tensor: Tensor) -> None:
        """Have ``tensor`` show it as its storage."""
        tensor._storage = self.untyped
        others = (each for each in self._tensors if each() is not None)
        self._tensors = [*(each for each in others if each() is not tensor), ref(tensor)]

    def use_count(self) -> int:
        """How many tensors have it."""
        found = (each() for each in self._tensors)
        return sum(each is not None and each._storage is self.untyped for each in found)

    # --- changes ------------------------------------------------------------------------------

    def freeze(self) -> None:
        """From now on nothing may change."""
        self._frozen = True

    def add_update(self, value: Tensor, metas: Sequence[ViewMeta]) -> None:
        """Queue a change; RuntimeError if it is frozen or cannot be brought to the base."""
        if self._frozen:
            raise RuntimeError("cannot mutate tensors with frozen storage")
        for place, meta in enumerate(metas):
            if place and meta.is_as_strided:
                raise RuntimeError(
                    "During torch.compile, encountered a mutation on a view chain of length "
                    f"{len(metas)}, where view {place} was an as_strided() call. as_strided() is "
                    "non-compositional, and therefore is not possible to functionalize properly "
                    "today,so this behavior is banned in compile. As a workaround, you can either "
                    "remove the mutation from the model code, or you can insert a graph break "
                    "right before the mutation with torch._dynamo.graph_break(). If you would "
                    "like this behavior to work properly, please comment on "
                    "https://github.com/pytorch/pytorch/issues/104505."
                )
        self._updates.append(Update(value, tuple(metas)))
        self.generation += 1

    def apply_updates(self) -> bool:
        """Bring the queued changes to the base, in order; whether there were any."""
        with skip_functionalize():
            updates = self._updates
            for update in updates:
                self.base = update.applied_to(self.base)
            self._updates = []
        return bool(updates)

    # --- what autograd is to know of the changes ----------------------------------------------

    def are_all_mutations_hidden_from_autograd(self) -> bool:
        return self.mutation_counter <= self.hidden_from_autograd

    def are_all_mutations_under_no_grad(self) -> bool:
        return self.mutation_counter <= self.under_no_grad + self.hidden_from_autograd


def _nbytes(value: Tensor) -> int:
    if value._layout is not strided:
        return 0
    return storage_bytes(value._sizes, value._strides, value._storage_offset, value._dtype.itemsize)
