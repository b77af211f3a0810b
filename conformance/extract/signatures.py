"""Section ``signatures.json.xz``: Python signatures, and the names that are bound.

The signatures are made by the generator that made torch's own bindings, which the wheel carries
(torchgen/packaged/autograd/gen_python_functions.py): it loads, filters, groups and sorts.  A few
bindings are written by hand in its templates and read from there.  Of those in
torch/csrc/autograd/python_torch_functions_manual.cpp a wheel has the signatures alone, among the
strings of its compiled library.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
import torchgen
from torchgen.gen import parse_native_yaml
from torchgen.packaged.autograd import gen_python_functions as generator

from conformance.extract import require
from conformance.extract._literals import literals

PACKAGED = Path(torchgen.__path__[0]) / "packaged"
LIBRARIES = list((Path(torch.__path__[0]) / "lib").glob("*torch_python.*"))
DEPRECATED = str(PACKAGED / "autograd" / "deprecated.yaml")

#: Python module to the generator's predicate of its functions and the object they are bound to.
MODULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "torch": (generator.is_py_torch_function, "_VariableFunctions"),
    "nn": (generator.is_py_nn_function, "_nn"),
    "fft": (generator.is_py_fft_function, "_fft"),
    "linalg": (generator.is_py_linalg_function, "_linalg"),
    "special": (generator.is_py_special_function, "_special"),
    "sparse": (generator.is_py_sparse_function, "_sparse"),
    "nested": (generator.is_py_nested_function, "_nested"),
}


def extract() -> dict[str, Any]:
    """Signatures by module and name, hand-written ones, structseq types, and bound names."""
    names = bound_names()  # first: what is imported below may add names to torch
    native = load_native_functions()
    methods = generator.load_signatures(native, DEPRECATED, method=True)
    functions = generator.load_signatures(native, DEPRECATED, method=False)
    modules = {"Tensor": describe_module(methods, generator.is_py_variable_method)}
    for module, (predicate, _) in MODULES.items():
        modules[module] = describe_module(functions, predicate)
    tensor = manual_bindings("python_variable_methods.cpp")
    manual = {
        "Tensor": {**tensor, **compiled_methods(names, {*modules["Tensor"], *tensor} - UNPARSED)},
        "nn": manual_bindings("python_nn_functions.cpp"),
        "nested": compiled_functions(torch._C._nested, set(modules["nested"])),
    }
    bound = set(names["torch._C._VariableFunctions"]) - set(dir(object))
    compiled = compiled_signatures(
        sorted(bound - set(modules["torch"])),
        besides={s for entry in manual["Tensor"].values() for s in entry["signatures"]},
    )
    unknown = bound - set(modules["torch"]) - set(compiled)
    renamed = {name: other for name in sorted(unknown) if (other := called_name(name))}
    manual["torch"] = {
        name: binding_of(getattr(torch._C._VariableFunctions, name), name, [])
        for name in sorted(unknown - set(renamed))
    }
    return {
        "modules": modules,
        "manual": manual,
        "compiled": compiled,
        "renamed": renamed,
        "return_types": return_types(functions),
        "names": names,
    }


def load_native_functions() -> list[Any]:
    """The operators that get Python bindings."""
    aten = PACKAGED / "ATen" / "native"
    parsed = parse_native_yaml(str(aten / "native_functions.yaml"), str(aten / "tags.yaml"))
    return list(filter(generator.should_generate_py_binding, parsed.native_functions))


def describe_module(pairs: Any, predicate: Callable[[Any], bool]) -> dict[str, Any]:
    """Name to its overloads, for the operators of one Python module."""
    grouped = generator.group_filter_overloads(pairs, predicate)
    by_name = {str(name): overloads for name, overloads in grouped.items()}
    return {name: describe_function(by_name[name]) for name in sorted(by_name)}


def describe_function(overloads: Any) -> dict[str, Any]:
    """One bound name.

    ``noargs`` says that there is one overload without parameters: such a method (not a function)
    is METH_NOARGS, and CPython words its errors.
    """
    groups = generator.group_overloads(overloads)
    return {
        "noargs": generator.is_noarg(overloads),
        "overloads": [describe_overload(group) for group in groups],
    }


def describe_overload(group: Any) -> dict[str, Any]:
    """One signature as PythonArgParser gets it, and the aten overloads it calls."""
    signature = group.signature
    facts: dict[str, Any] = {
        "signature": signature.signature_str(symint=True),
        "base": f"aten::{group.base.func.name}",
    }
    if group.base.manual_cpp_binding:
        facts["direct"] = True
    if group.outplace is not None:
        facts["out"] = f"aten::{group.outplace.func.name}"
    if signature.deprecated:
        facts["deprecated"] = True
        facts["call"] = list(signature.deprecated_args_exprs)
    return facts


def return_types(pairs: Any) -> dict[str, list[str]]:
    """Types of torch.return_types and their fields."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        fields = generator.structseq_fieldnames(pair.function.func.returns)
        if fields:
            found.setdefault(generator.cpp.name(pair.function.func), fields)
    return dict(sorted(found.items()))


# Bindings written by hand -----------------------------------------------------------------------

FUNCTION = re.compile(r"^ *static PyObject\s*\*\s*(THPVariable_\w+)\(", re.MULTILINE)
PARSER = re.compile(r"static PythonArgParser parser\(\s*\{(.*?)\}\s*[,)]", re.DOTALL)
ENTRY = re.compile(r'\{"(\w+)",\s*(.*?THPVariable_\w+[^,]*),\s*(METH_[A-Z_ |]+),\s*n?(?:NULL|ull)')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def manual_bindings(template: str) -> dict[str, Any]:
    """Methods that a template of the generator binds itself.

    ``signatures`` is empty where the function has no argument parser of its own; ``function`` is
    then the generated one it shares, if it shares one.  ``not_implemented`` says that a TypeError
    becomes NotImplemented.
    """
    text = (PACKAGED / "autograd" / "templates" / template).read_text(encoding="utf-8")
    parsers = dict(hand_written_parsers(text))
    require(len(parsers) == text.count("PythonArgParser parser"), f"{template}: missed a parser")
    entries = {}
    for name, target, flags in ENTRY.findall(text):
        function = re.findall(r"THPVariable_(\w+)", target)[0]
        entries[name] = {
            "function": function,
            "flags": flags.strip(),
            "signatures": parsers.get(function, []),
            "not_implemented": "TypeError_to_NotImplemented_" in target,
        }
    require(bool(entries), f"no method table in {template}")
    return dict(sorted(entries.items()))


def hand_written_parsers(text: str) -> Iterator[tuple[str, list[str]]]:
    """Function name to its signatures, for each function body with a PythonArgParser."""
    starts = list(FUNCTION.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=True):
        found = PARSER.search(text, start.end(), end)
        if found:
            yield start[1].removeprefix("THPVariable_"), LITERAL.findall(found[1])


# Bindings known from the compiled library alone --------------------------------------------------


def compiled_signatures(names: Iterable[str], besides: set[str]) -> dict[str, list[str]]:
    """Signatures of functions of torch, found in its library; those found, in parser order.

    ``besides`` are signatures of other bindings that may have the same names.
    """
    data = b"".join(path.read_bytes() for path in sorted(LIBRARIES))
    found = {
        name: [text for text in strings_starting(f"{name}(", data) if text not in besides]
        for name in names
    }
    return {name: signatures for name, signatures in found.items() if in_order(name, signatures)}


#: Methods of a template whose parser stands in the compiled library.
UNPARSED = {"new_tensor"}


def compiled_methods(names: dict[str, dict[str, str]], known: set[str]) -> dict[str, Any]:
    """Methods of torch's base class of tensors that no template has."""
    owner = next(name for name in names if name.endswith("TensorBase"))
    base = getattr(torch._C, owner.rpartition(".")[2])
    callables = ("method_descriptor", "builtin_function_or_method")
    return {
        name: compiled_binding(getattr(base, name), name, (torch.ones(1),))
        for name, kind in names[owner].items()
        if kind in callables and name not in known and not hasattr(object, name)
    }


def compiled_functions(module: Any, known: set[str]) -> dict[str, Any]:
    """Functions of a module of torch that the generator did not make."""
    functions = {name: value for name, value in vars(module).items() if callable(value)}
    return {
        name: compiled_binding(function, name, ())
        for name, function in sorted(functions.items())
        if name not in known and not name.startswith("__")
    }


def compiled_binding(function: Any, name: str, receiver: tuple[Any, ...]) -> dict[str, Any]:
    """A binding whose signature is a string of the library, under the name in its errors."""
    message = refused(function, *(() if is_static(function) else receiver))
    said = re.match(r"(\w+)\(\) missing", message)
    data = b"".join(path.read_bytes() for path in sorted(LIBRARIES))
    return binding_of(function, name, strings_starting(f"{said[1]}(", data) if said else [])


def binding_of(function: Any, name: str, signatures: list[str]) -> dict[str, Any]:
    """As a template's method table has it; the flags as CPython's own messages show them."""
    static = is_static(function)
    receiver = () if static else (torch.ones(1),)
    message = refused(function, *receiver, object(), object(), nosuch=object())
    without_keywords = "takes no keyword arguments" in message
    flags = "METH_VARARGS | METH_KEYWORDS"
    if without_keywords:
        takes_nothing = "takes no arguments" in refused(function, *receiver, 1, 2)
        flags = "METH_NOARGS" if takes_nothing else "METH_O"
    return {
        "function": name,
        "flags": f"METH_STATIC | {flags}" if static else flags,
        "signatures": signatures,
        "not_implemented": False,
    }


def is_static(function: Any) -> bool:
    return type(function).__name__ == "builtin_function_or_method"


def refused(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """The message of the TypeError of a call; empty if there is none."""
    try:
        function(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return ""


def strings_starting(prefix: str, data: bytes) -> list[str]:
    """The literals in ``data`` that start so and look like a signature."""
    return literals(prefix, data, SIGNATURE)


#: A signature as PythonArgParser gets it.
SIGNATURE = re.compile(r"\w+\([^()\n]*\)(\|\w+)?")


def called_name(name: str) -> str | None:
    """The function that ``torch.<name>`` is another name for: it names itself in its errors."""
    try:
        getattr(torch, name)()
    except TypeError as error:
        found = re.match(r"(\w+)\(\) (?:missing|received)", str(error))
        return found[1] if found and found[1] != name else None
    return None


def in_order(name: str, signatures: list[str]) -> bool:
    """Whether torch, called wrongly, lists the same parameters in the same order."""
    if len(signatures) <= 1:
        return bool(signatures)
    listed = listed_signatures(getattr(torch, name))
    stored = [signature.partition("(")[2].rpartition(")")[0] for signature in signatures]
    return list(map(parameter_names, listed)) == list(map(parameter_names, stored))


def listed_signatures(function: Callable[..., Any]) -> list[str]:
    """What a TypeError lists: all signatures, if more than one takes as many arguments."""
    for count in range(8):
        try:
            function(*[object()] * count, nosuch=0)
        except TypeError as error:
            listed = re.findall(r"^ \* \((.*)\)$", str(error), re.MULTILINE)
            if listed:
                return listed
    return []


def parameter_names(parameters: str) -> list[str]:
    """``a`` and ``b`` of ``Tensor a, *, int? b=None``."""
    declared = (part.partition("=")[0].split() for part in parameters.split(", "))
    return [words[-1] for words in declared if words and words != ["*"]]


# Names ------------------------------------------------------------------------------------------


def bound_names() -> dict[str, dict[str, str]]:
    """Name to the type of what is bound to it, sorted, for each object that a user reaches."""
    owners: dict[str, Any] = {
        f"torch._C.{attribute}": getattr(torch._C, attribute) for _, attribute in MODULES.values()
    }
    tensor_base = next(n for n in ("TensorBase", "_TensorBase") if hasattr(torch._C, n))
    owners[f"torch._C.{tensor_base}"] = getattr(torch._C, tensor_base)
    owners["torch.Tensor"] = torch.Tensor
    owners["torch"] = torch
    return {name: kinds(owner) for name, owner in owners.items()}


def kinds(owner: Any) -> dict[str, str]:
    # A module's dictionary, not getattr: torch imports some of its submodules on first use.
    values = vars(owner) if owner is torch else {name: getattr(owner, name) for name in dir(owner)}
    return {name: type(values[name]).__name__ for name in sorted(dir(owner)) if name in values}
