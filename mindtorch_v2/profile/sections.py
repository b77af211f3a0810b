"""Shapes of the sections that a profile reads on demand.

A section is the parsed JSON of its file, typed here; nothing is built from it at load.  What each
field means to torch is said in the module of ``conformance/extract`` that has the section's name.
"""

from typing import TypedDict

__all__ = [
    "Bindings",
    "ClassBinding",
    "Derivative",
    "Derivatives",
    "DifferentiableOperator",
    "Fallback",
    "Function",
    "ManualBinding",
    "NodeFacts",
    "OpInfo",
    "OperatorRegistrations",
    "Overload",
    "Property",
    "Registrations",
    "Sample",
    "SampleTensor",
    "SampledOperator",
    "Schemas",
    "Signatures",
]


class _StaticMark(TypedDict, total=False):
    #: Present, and true, for a property of the class itself.
    static: bool


class Property(_StaticMark):
    """A property of a pybind11 class."""

    doc: str | None
    settable: bool


class ClassBinding(TypedDict):
    """A pybind11 class: its own attributes, in the order in which torch defines them."""

    #: Module and qualified name, of the class and of its base.
    name: str
    base: str
    doc: str | None
    #: Name to docstring, whose lines are the signatures that pybind11 prints; empty if it has none.
    methods: dict[str, str]
    static_methods: dict[str, str]
    properties: dict[str, Property]
    #: Of an enum: name to value.
    members: dict[str, int]
    hashable: bool


class ModuleBindings(TypedDict):
    """What pybind11 made of a module, by name."""

    #: Name to docstring.
    functions: dict[str, str]
    classes: dict[str, ClassBinding]


class Bindings(ModuleBindings):
    """``bindings.json.xz``: what pybind11 made and stands directly in torch._C."""

    #: What torch._C._autograd has for saved tensors.
    autograd: ModuleBindings


class Schemas(TypedDict):
    """``schemas.json.xz``: what ``import torch`` alone registers."""

    #: Printed schemas in the order of ``_jit_get_all_schemas``: overloads of one operator in
    #: registration order.  A packet of torch.ops has the dispatcher's overloads first.
    schemas: list[str]
    #: ``_dispatch_get_all_op_names`` in its order, without names that only have kernels; the
    #: other schemas are the JIT's own.
    dispatcher_names: list[str]
    #: Operator name to tag names; an operator that is absent has none.
    tags: dict[str, list[str]]
    #: Operator names that torch.ops cannot reach.
    unresolvable: list[str]


class _OverloadExtras(TypedDict, total=False):
    #: Called instead of ``base`` when ``out`` is passed.
    out: str
    #: Present, and true, where the C++ function is written by hand and dispatches nothing itself.
    direct: bool
    #: Present, and true, for a deprecated signature ...
    deprecated: bool
    #: ... with what it passes to the operator, in C++ order: names of its parameters, or the
    #: literal ``1``.  ``out``, first where there is an ``out``, is not passed to ``base``.
    call: list[str]


class Overload(_OverloadExtras):
    """A signature, and the operators that it calls."""

    #: As given to PythonArgParser, ``|deprecated`` included.
    signature: str
    base: str


class Function(TypedDict):
    """A generated binding; its overloads in the parser's order."""

    #: A method (not a function) with this set is METH_NOARGS: CPython words its errors.
    noargs: bool
    overloads: list[Overload]


class ManualBinding(TypedDict):
    """A method that torch binds by hand."""

    #: The C function without its prefix; a generated one if ``signatures`` is empty and a
    #: generated binding has that name.
    function: str
    #: For example ``METH_VARARGS | METH_KEYWORDS``.
    flags: str
    signatures: list[str]
    #: A TypeError becomes NotImplemented.
    not_implemented: bool


class Signatures(TypedDict):
    """``signatures.json.xz``: how torch's Python names are called."""

    #: Module (torch, Tensor, nn, fft, linalg, special, sparse, nested) and name.
    modules: dict[str, dict[str, Function]]
    #: Module (Tensor, nn) and name.
    manual: dict[str, dict[str, ManualBinding]]
    #: Functions of torch known by their signatures alone.
    compiled: dict[str, list[str]]
    #: Other names of functions of torch.
    renamed: dict[str, str]
    #: Type in torch.return_types to its fields.
    return_types: dict[str, list[str]]
    #: Object to its names and the type of each, for example ``torch._C._nn``.
    names: dict[str, dict[str, str]]


#: The kernels' last three members, and the other ``int`` fields, are indices into ``texts``.
OperatorRegistrations = TypedDict(
    "OperatorRegistrations",
    {
        "debug": int,
        "alias analysis kind": int,
        # Key, debug, signature, state; of several for a key the first is active.
        "kernels": list[tuple[str, int, int, int]],
    },
)


class Fallback(TypedDict):
    """A backend fallback."""

    debug: int
    fallthrough: bool


class Registrations(TypedDict):
    """``registrations.json.xz``: kernels as ``_dispatch_dump`` lists them.

    ``<torch>`` in a text stands for the directory of the installed torch.
    """

    #: By operator name; the schema is that of the schemas section.
    operators: dict[str, OperatorRegistrations]
    #: By operator name, where its first kernel with a C++ signature came from.
    cpp_signatures: dict[str, int]
    #: By key, in the order of a computed table.
    fallbacks: dict[str, Fallback]
    #: Keys whose fallback another may replace.
    replaceable_fallbacks: list[str]
    #: Alias keys at which what is registered changes the entry of no key.
    aliases_without_runtime_keys: list[str]
    #: Namespace to where its one TORCH_LIBRARY stands, for those that have one.
    libraries: dict[str, str]
    #: First 12 hexadecimal digits of the SHA-256 of ``_dispatch_dump_table``.
    table_digests: dict[str, str]
    #: Tables that do not follow from kernels, fallbacks and alias keys.
    underived_tables: dict[str, str]
    #: ``_dispatch_find_dangling_impls``.
    dangling: list[str]
    texts: list[str]


class _DerivativeMark(TypedDict, total=False):
    #: Present, and true, for a formula that is only asked if a gradient arrived.
    if_any_grad: bool


class Derivative(_DerivativeMark):
    """A formula of derivatives.yaml and the inputs that it is for."""

    names: list[str]
    formula: str


class _NodeExtras(TypedDict, total=False):
    #: What formulas call the gradients of the outputs, if they name them.
    named_gradients: list[str]


class NodeFacts(_NodeExtras):
    """A class of nodes that torch generates."""

    #: Arguments with a derivative, in the order of edges; lists of tensors end in ``[]``.
    inputs: list[str]
    derivatives: list[Derivative]
    #: Name, C++ expression, C++ type and perhaps the condition under which it is saved.
    saved_inputs: list[list[str]]
    saved_outputs: list[list[str]]


class DifferentiableOperator(TypedDict, total=False):
    """What VariableType does for an operator; empty where there is nothing to differentiate."""

    #: Absent if the derivative is not implemented.
    node: str
    #: Arguments whose gradient is computed, and those that must not require one.
    inputs: list[str]
    refused: list[str]
    #: Of an ``out=`` operator, arguments that must not require a gradient.
    checked: list[str]
    #: Indices of differentiable outputs.
    outputs: list[int]
    #: Outputs may be complex.
    complex: bool
    #: A C++ condition without which the output is not differentiable.
    when: str


class Derivatives(TypedDict):
    """``derivatives.json.xz``: what autograd knows of each operator."""

    nodes: dict[str, NodeFacts]
    #: Nodes that Python sees as functions of C++, and no more of them.
    without_class: list[str]
    operators: dict[str, DifferentiableOperator]
    #: Operator to the argument that its outputs are views of.
    views: dict[str, str]
    views_with_metadata_change: list[str]
    resets_grad_accumulator: list[str]


class Autograd(TypedDict):
    """``autograd.json``: what ``torch.autograd`` does that releases do differently."""

    #: What ``backward`` and ``grad`` of this release do.
    python: dict[str, bool]
    #: Messages that releases word differently.
    words: dict[str, str]
    #: What ``torch.autograd.graph.Node`` leaves to the classes of nodes.
    node_methods: list[str]


class _SampleTensorExtras(TypedDict, total=False):
    #: Each element as a text, in row-major order; or else ...
    values: list[str]
    #: ... how many different numbers there are, the least of them, and the step to the next.
    range: list[float]
    #: Of a tensor that is not row-major.
    stride: list[int]
    #: What a case adds to the diagonal of matrices, and their size; no profile has it.
    diagonal: list[int]
    #: Present, and true, where it is so.
    conj: bool
    requires_grad: bool


class SampleTensor(_SampleTensorExtras):
    """A tensor among the arguments of a sample."""

    dtype: str
    shape: list[int]


class _SampleExtras(TypedDict, total=False):
    #: The dtype that the sample is of; errors have none.
    dtype: str
    #: Of a sample with gradients: the places of differentiable results, None for one tensor.
    differentiable: list[int] | None


class Sample(_SampleExtras):
    """The arguments of a call, as texts; ``{0}`` in them is the first of the tensors."""

    arguments: list[str]
    tensors: list[SampleTensor]


class _SampledExtras(TypedDict, total=False):
    #: Present, and true, where the seed is to be set first.
    seeded: bool
    #: Names of methods that do the same, and its symbol in Python.
    method: str
    inplace: str
    symbol: str
    #: Present, and true, where it takes ``out``.
    out: bool


class SampledOperator(_SampledExtras):
    """What torch tests an operator with."""

    name: str
    #: ``xp.add``, the method ``.item``, or a text with the arguments in it: ``{1} + {0}``.
    call: str
    samples: list[Sample]
    #: What it refuses.
    errors: list[Sample]


class OpInfo(TypedDict):
    """``opinfo.json.xz``: the sample inputs and error inputs of torch.testing._internal."""

    operators: list[SampledOperator]
    #: By operator, why samples are not here, and how many.
    left_out: dict[str, dict[str, int]]
