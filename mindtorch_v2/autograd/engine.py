"""The engine: runs the nodes that lead from some outputs to leaves, each when it is ready.

Mirrors ``torch/csrc/autograd/engine.cpp`` for one thread and no accelerator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd import anomaly, at
from mindtorch_v2.autograd.basic_ops import GraphRoot
from mindtorch_v2.autograd.functions_manual.shapes import sum_to
from mindtorch_v2.autograd.hooks import call_post_hooks, call_pre_hooks
from mindtorch_v2.autograd.node import (
    Edge,
    Gradient,
    Node,
    Received,
    RunningTask,
    current_graph_task,
    running,
)
from mindtorch_v2.autograd.operators import add
from mindtorch_v2.autograd.ownership import has_storage_of_its_own, others_that_hold
from mindtorch_v2.autograd.ready_queue import NodeTask, ReadyQueue, local_ready_queue
from mindtorch_v2.autograd.saved_variable import defaults
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.kernels.elementwise.broadcasting import is_expandable_to
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.dtype import DType, Layout, sparse_compressed, sparse_coo, strided
from mindtorch_v2.tensor.geometry import is_non_overlapping_and_dense
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor
from mindtorch_v2.thread_state import ThreadLocal, in_another_thread
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like
from mindtorch_v2.warn import warn_once

FormatError = Callable[[str], str]


class ExecInfo:
    """Whether a node is needed, and which of the gradients that it gets are wanted."""

    __slots__ = ("captures", "needed")

    def __init__(self) -> None:
        self.needed = False
        self.captures: list[tuple[int, int]] = []

    def should_execute(self) -> bool:
        return self.needed or bool(self.captures)


_task_ids: Final = count()
_NESTED: Final = functionality_bit(DispatchKey.NestedTensor)
_LATE_HOOKS_ARE_CALLED: Final = profile.active().autograd["python"]["late_hooks_are_called"]
"""Whether a node calls the hooks too that were registered while it ran."""


class GraphTask(RunningTask):
    """One call of backward."""

    def __init__(self, roots: Sequence[Edge], keep_graph: bool, create_graph: bool) -> None:
        self.graph_roots = [node for node, _ in roots]
        self.keep_graph = keep_graph
        self.grad_mode = create_graph
        self.dependencies: dict[Node, int] = {}
        self.not_ready: dict[Node, list[Gradient]] = {}
        self.exec_info: dict[Node, ExecInfo] = {}
        self.captured: list[Gradient] = []
        self.final_callbacks: list[Callable[[], Any]] = []
        outer = current_graph_task()
        is_reentrant = isinstance(outer, GraphTask)
        self.reentrant_depth: int = outer.reentrant_depth + 1 if is_reentrant else 0
        self._ready_queue = outer._ready_queue if is_reentrant else local_ready_queue()
        self._outstanding_tasks = 0
        self.id = next(_task_ids)
        self.nodes_in_graph: set[Node] = set()

    def should_execute(self, node: Node) -> bool:
        if not self.exec_info:
            return True
        found = self.exec_info.get(node)
        return found is not None and found.should_execute()

    def add_node_to_exec_info(self, node: Node) -> None:
        if self.exec_info and node not in self.exec_info:
            self.exec_info[node] = ExecInfo()
            self.exec_info[node].needed = True

    # --- preparation --------------------------------------------------------------------------

    def compute_dependencies(self, root: Node, min_topological_nr: int) -> None:
        """How many gradients each node waits for."""
        seen = self.nodes_in_graph  # in which torch has not the root
        stack = [root]
        while stack:
            node = stack.pop()
            if node._topological_nr < min_topological_nr:
                continue
            for following, _ in node._edges:
                if following is not None:
                    self.dependencies[following] = self.dependencies.get(following, 0) + 1
                    if following not in seen:
                        seen.add(following)
                        stack.append(following)

    def init_to_execute(
        self, root: Node, outputs: Sequence[Edge], accumulate_grad: bool, min_topological_nr: int
    ) -> None:
        """Which nodes lie on a way from the root to what was asked for."""
        for output, place in outputs:
            assert output is not None
            info = self.exec_info.setdefault(output, ExecInfo())
            if accumulate_grad:
                info.needed = True
            else:
                info.captures.append((place, len(self.captured)))
                self.captured.append(None)
        self.exec_info.setdefault(root, ExecInfo())
        seen: set[Node] = set()
        stack: list[tuple[Node, Iterator[Edge]]] = [(root, iter(list(root._edges)))]
        while stack:
            node, edges = stack[-1]
            child = None
            for following, _ in edges:
                if following is None:
                    continue
                if following not in seen:
                    child = following
                    break
                if self.exec_info[following].should_execute():
                    self.exec_info[node].needed = True
            if child is not None:
                seen.add(child)
                self.exec_info.setdefault(child, ExecInfo())
                if child._topological_nr >= min_topological_nr:
                    stack.append((child, iter(list(child._edges))))
                continue
            stack.pop()
            if self.exec_info[node].should_execute() and stack:
                self.exec_info[stack[-1][0]].needed = True

    def execution_order(self) -> list[Node]:
        """All nodes in the order in which they run; RuntimeError once some have run."""
        dependencies = {**self.dependencies}
        ready, order = ReadyQueue(), []
        for root in self.graph_roots:
            ready.push(NodeTask(self.reentrant_depth, root, []))
        while ready:
            node = ready.pop().node
            order.append(node._shared())
            for following, _ in node._edges:
                if following is None or not self.should_execute(following):
                    continue
                if following not in dependencies:
                    raise RuntimeError(f"{following.name()} has got a gradient already")
                dependencies[following] -= 1
                if not dependencies[following]:
                    del dependencies[following]
                    ready.push(NodeTask(self.reentrant_depth, following, []))
        return order

    # --- running ------------------------------------------------------------------------------

    def push(self, node: Node, grads: list[Gradient]) -> None:
        self._ready_queue.push(NodeTask(self.reentrant_depth, node, grads))
        self._outstanding_tasks += 1

    def run(self) -> list[Gradient]:
        with running(task=self), tls.guarded(tls.AutoGradMode, self.grad_mode):
            try:
                self._run_nodes()
            finally:
                while self._outstanding_tasks:  # of a backward that failed none runs any more
                    self._pop()
        if self.not_ready:
            raise RuntimeError("could not compute gradients for some functions")
        with running(task=self):
            for callback in self.final_callbacks:
                callback()
        return self.captured

    def _pop(self) -> NodeTask:
        self._outstanding_tasks -= 1
        return self._ready_queue.pop()

    def _run_nodes(self) -> None:
        hooks = [*defaults.hooks]  # what a node changes there lasts no longer than the node runs
        while self._outstanding_tasks:
            task = self._pop()
            try:
                with running(node=task.node):
                    self._evaluate(task.node, task.grads)
            except Exception:
                if anomaly.is_anomaly_enabled():
                    anomaly.print_stack(task.node)
                raise
            if defaults.hooks != hooks:
                defaults.hooks[:] = hooks

    def _evaluate(self, node: Node, grads: list[Gradient]) -> None:
        if self.exec_info:
            info = self.exec_info[node]
            if not info.needed:
                grads = _call_tensor_pre_hooks(node, grads)
            if info.captures:
                # what is captured has gone through the hooks that a needed node calls later
                for place, number in info.captures:
                    self.captured[number] = grads[place]
            if not info.needed:
                return
        outputs = self._call(node, grads)
        grads.clear()  # so that what the node hands on as it is has no second owner
        if not self.keep_graph:
            node._release_variables()
        if anomaly.is_anomaly_enabled() and anomaly.is_anomaly_check_nan_enabled():
            _check_nan(node, outputs)
        for place, (following, number) in zip(range(len(outputs)), node._edges, strict=False):
            if following is not None:
                grad, outputs[place] = outputs[place], None  # it has one owner at a time
                self._hand_on(grad, following, number)

    def _call(self, node: Node, grads: list[Gradient]) -> list[Gradient]:
        grads = _call_tensor_pre_hooks(node, grads)
        attached = node._attached
        if attached is not None and attached.pre_hooks:
            grads[:] = call_pre_hooks(attached.pre_hooks.values(), grads)
        if not self.keep_graph:
            node._will_release_variables()
        # Without post hooks, nobody here looks at the gradients again: the node may keep one.
        has_post_hooks = node._has_post_hooks()
        outputs = node._apply(list(grads) if has_post_hooks else grads)
        name = node.name()
        validate_outputs(
            node._edges, outputs, lambda message: f"Function {name} returned an {message}"
        )
        if node._has_post_hooks() and (has_post_hooks or _LATE_HOOKS_ARE_CALLED):
            given = grads if has_post_hooks else ()  # those who came late see nothing of them
            outputs = call_post_hooks(node._attach().post_hooks.values(), outputs, given)
        return outputs

    def _hand_on(self, grad: Gradient, node: Node, place: int) -> None:
        if node not in self.dependencies:
            raise RuntimeError(f"dependency not found for {node.name()}")
        self.dependencies[node] -= 1
        is_ready = not self.dependencies[node]
        if is_ready:
            del self.dependencies[node]
        buffer = self.not_ready.get(node)
        if buffer is None:
            if not self.should_execute(node):
                return
            buffer = self.not_ready[node] = [None] * len(node._received)
        _accumulate(buffer, place, grad)
        if is_ready:
            self.push(node, self.not_ready.pop(node))


def _accumulate(buffer: list[Gradient], place: int, grad: Gradient) -> None:
    """Add a gradient to what is there, in its memory if nobody else knows it."""
    if grad is None:
        return
    if buffer[place] is None:
        buffer[place] = grad
    elif _can_accumulate_inplace(buffer, place) and not is_tensor_subclass_like(grad):
        at.call("add_", buffer[place], grad)
    else:
        buffer[place] = add(buffer[place], grad)


def _can_accumulate_inplace(buffer: list[Gradient], place: int) -> bool:
    """``can_accumulate_inplace`` of torch/csrc/autograd/input_buffer.cpp."""
    if tls.is_grad_enabled() or others_that_hold(buffer, place):
        return False
    old = buffer[place]
    assert old is not None
    is_vanilla = not (is_tensor_subclass_like(old) or is_zero_tensor(old) or old._keys & _NESTED)
    return (
        is_vanilla
        and old._layout is strided
        and is_non_overlapping_and_dense(old._sizes, old._strides)
        and has_storage_of_its_own(old)
    )


def _call_tensor_pre_hooks(node: Node, grads: list[Gradient]) -> list[Gradient]:
    """In the same list, so that no other keeps what was there before."""
    attached = node._attached
    retained = () if attached is None else attached.retains_grad_hooks.values()
    for hook in (*node._all_tensor_pre_hooks(), *retained):
        grads[:] = hook(grads)
    return grads


def _check_nan(node: Node, outputs: Sequence[Gradient]) -> None:
    with tls.guarded(tls.AutoGradMode, False):
        for place, output in enumerate(outputs):
            if output is not None and at.call("any", at.call("isnan", output)).item():
                raise RuntimeError(
                    f"Function '{node.name()}' returned nan values in its {place}th output."
                )


# --- checks of gradients --------------------------------------------------------------------------


def validate_outputs(
    edges: Sequence[Edge], grads: list[Gradient], format_error: FormatError
) -> None:
    """RuntimeError for gradients that do not suit; others are made to fit in their place."""
    if len(grads) != len(edges):
        # AccumulateGrad answers nothing, and leads nowhere
        raise RuntimeError(
            format_error(
                f"invalid number of gradients - expected {len(edges)}, but got {len(grads)}"
            )
        )
    for place, (grad, (following, number)) in enumerate(zip(grads, edges, strict=True)):
        if following is None or grad is None:
            continue
        wanted = following._received[number]
        if wanted is not None:
            grads[place] = _fitting(place, grad, wanted, format_error)


def _fitting(place: int, grad: Tensor, wanted: Received, format_error: FormatError) -> Tensor:
    dtype, layout, device, shape, _, is_tensor_subclass = wanted
    if tuple(grad._sizes) != tuple(shape):
        if not is_expandable_to(shape, grad._sizes):
            raise RuntimeError(
                format_error(
                    f"invalid gradient at index {place} - got {list(grad._sizes)} but expected "
                    f"shape compatible with {list(shape)}"
                )
            )
        grad = sum_to(grad, shape)
    if dtype is not None:
        grad = _of_dtype(grad, dtype)
    if grad._layout is not layout and grad._layout is not sparse_coo:
        _check_layout(place, grad, layout, format_error)
    if grad._device != device:
        is_anywhere = is_tensor_subclass or grad._python_dispatch
        if is_anywhere and (grad._sizes or not _SCALARS_FOLLOW_SUBCLASSES):
            return grad
        if grad._sizes:
            raise RuntimeError(
                format_error(
                    f"invalid gradient at index {place} - expected device {device} but "
                    f"got {grad._device}"
                )
            )
        grad = at.call("to", grad, device=device)
    return grad


def _of_dtype(grad: Tensor, dtype: DType) -> Tensor:
    are_alike = grad._dtype.is_complex is dtype.is_complex
    if not grad._dtype.is_floating_point and not are_alike:
        raise RuntimeError(expected(_IS_SUITABLE))
    if grad._dtype is dtype:
        return grad
    converted: Tensor = at.call("to", grad, dtype)
    return converted


def _check_layout(place: int, grad: Tensor, wanted: Layout, format_error: FormatError) -> None:
    """A dense gradient will do for a sparse tensor."""
    is_sparse = wanted in sparse_compressed or wanted is sparse_coo
    if grad._layout is not strided or not is_sparse:
        raise RuntimeError(
            format_error(
                f"invalid gradient at index {place} - expected layout {wanted} but got "
                f"{grad._layout}"
            )
        )


_SCALARS_FOLLOW_SUBCLASSES: Final = profile.active().autograd["python"][
    "scalar_gradients_follow_subclasses"
]
"""Whether a scalar is moved to where a tensor lies whose class overrides operators."""
_IS_SUITABLE: Final = "isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex)"


# --- execution ------------------------------------------------------------------------------------


def execute(
    roots: Sequence[Edge],
    grads: list[Gradient],
    *,
    keep_graph: bool,
    create_graph: bool,
    accumulate_grad: bool,
    outputs: Sequence[Edge] = (),
) -> list[Gradient]:
    """Send gradients from the roots; answers those of ``outputs`` unless leaves keep them."""
    validate_outputs(roots, grads, lambda message: message)
    if accumulate_grad and create_graph:
        warn_once(
            "Engine.execute",
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak.",
        )
    if not accumulate_grad and not outputs:
        raise ValueError("grad requires non-empty inputs.")
    task = GraphTask(roots, keep_graph, create_graph)
    single, place = roots[0] if len(roots) == 1 else (None, 0)
    root = single or GraphRoot(roots, grads)
    numbers = (node._topological_nr for node, _ in outputs if node is not None)
    minimum = min(numbers, default=0)
    task.compute_dependencies(root, minimum)
    if outputs:
        task.init_to_execute(root, outputs, accumulate_grad, minimum)
    buffer: list[Gradient] = [None] * len(root._received)
    if single is not None:
        _accumulate(buffer, place, grads[0])
    task.push(root, buffer)
    with tls.outside_pipeline("backward"):
        return _within_depth(task.run)


class _Nesting(ThreadLocal):
    depth = 0


_nesting: Final = _Nesting()
_MAX_DEPTH: Final = 60
"""So many backwards of one thread run within each other; the next goes on in another thread."""


def _within_depth(run: Callable[[], list[Gradient]]) -> list[Gradient]:
    if _nesting.depth >= _MAX_DEPTH:
        return in_another_thread(lambda: _within_depth(run))
    _nesting.depth += 1
    try:
        return run()
    finally:
        _nesting.depth -= 1


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call something when the backward that is running is done; RuntimeError outside of one."""
    task = current_graph_task()
    if not isinstance(task, GraphTask):
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.final_callbacks.append(callback)


# --- what is asked while it runs --------------------------------------------------------------


def current_graph_task_id() -> int:
    """Of the backward that runs in this thread; -1 without one."""
    task = current_graph_task()
    return task.id if isinstance(task, GraphTask) else -1


def current_graph_task_execution_order() -> list[Node]:
    """The nodes in the order in which the backward runs them that is running in this thread.

    RuntimeError outside of one, and unless it is told to run in one thread: torch cannot foretell
    more.
    """
    task = current_graph_task()
    if not isinstance(task, GraphTask):
        raise RuntimeError(
            "_current_graph_task_execution_order should only be called during the backward pass"
        )
    if tls.thread_local.raw.multithreading:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled, e.g. by running:\n\n"
            ">>> with torch.autograd.set_multithreading_enabled(False):\n"
            "...     torch.autograd.grad(...)\n"
        )
    return task.execution_order()


def will_engine_execute_node(node: Any) -> bool:
    """Whether the backward that runs calls a node; RuntimeError outside of one."""
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type_name(node)}"
        )
    task = current_graph_task()
    if not isinstance(task, GraphTask):
        raise RuntimeError(
            "_get_should_execute_nodes should only be called during the backward pass"
        )
    if node not in task.nodes_in_graph or not task.should_execute(node):
        return False
    if task.exec_info and not node._topological_nr and task.exec_info[node].captures:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    return True
