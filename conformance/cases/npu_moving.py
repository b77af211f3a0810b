"""A case's text with its tensors on the device ``here()``.

What makes a tensor out of none is given the device: every function of torch that takes one and has
no tensor to take it from, by the profile's schemas, and the modules that make parameters.  A text
that names the CPU names ``here()`` instead.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from mindtorch_v2.profile import Profile

_FROM_VALUES: Final = frozenset(("tensor", "as_tensor", "asarray"))
"""These are no operators."""
_HOST: Final = frozenset(("Generator",))
"""Random numbers are drawn on the CPU."""
_MODULES: Final = frozenset(
    ("Linear", "Embedding", "LayerNorm", "Conv2d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
)
_WITHOUT: Final = re.compile(
    "|".join(
        (
            r"float8|complex32|chalf|\bfloat16.*\dj|\dj.*\bfloat16",  # dtypes that ACL has not
            r"device='meta'",  # what a tensor on the CPU may mix with if it has no dimensions
            r"_dispatch_",  # what asks the dispatcher for keys or kernels
            r"repr\(\(?[wxy]\b|str\([wy]|repr\(nn.Parameter",  # tensors as text
            r"(_replace|_mutation|_wrapped_functional)\((x, )?\(?(None|1)",  # and in messages
            r"\[1, 7, 0\]\].*^except",  # what is written before a place that there is not
            r"^ *try:\s+[^\n]*(index|take|put|masked_scatter)[^\n]*\n *except",  # the same
            r"\battempt\([^\n]*\bmasked_scatter_\b",  # the same: before there is no source any more
            r"^ *s = x\.as_strided\(",  # elements that share memory
            r"^ *x[.[][^\n]*\.copy_\(x",  # copies within one memory
            r"gelu\(.*inf",  # what oneDNN makes of infinity
            r"embedding_dense_backward\(.* - 1",  # rows that there are not
            r"_foreach_addc\w+\(.*, xp\.",  # numbers in a tensor that must be on the CPU
            r"embedding\w*_backward\(\w+, \w+ [+*]",  # indices whose type is named with its device
            r"aten\.(arange|eye|full|ones|zeros)(\.\w+)?\((?![^\n]*device)",  # on the CPU as it is
            r"aten\.meshgrid\b",  # whose refusal shows tensors as text
            r"\b(mv\.out|mean\.dtype_out)\(.*dtype=",  # which of two things that are wrong is said
            r"_loss\(.*nbytes\(\)",  # how much memory a result takes
            r"clip_grad_norm_\(\[[^p]*\]",  # without a gradient torch's answer is on the CPU
            r"as_tensor\(.*numpy\(",  # memory shared with the host
            r"linspace[.\w]*\(([^,()]*, *)?xp\.",  # makes a tensor on the CPU, wherever its own are
            r"rng_state|[gs]et_state",  # which is on the CPU
            r"tensor_split(\(\w+, a\d|\.tensor_indices)",  # where to split must be on the CPU
            r"\b(2 [*/] x|x [*/] 2)$.*_saved_other",  # a number as a tensor is on the CPU
            r"where\(.*1e\+?300",  # only on the CPU is a number converted unchecked
            r"^ *o = \(?a\b",  # the order of reading and writing is the device's
            r"^ *o = \((?P<out>\w+), (a|(?P=out))\)",  # and that of writing twice
            r"\b(sum|mean|amax|prod)\((?P<read>\w), [^\n]*out=(?P=read)\b",
            r"out=[^\n]*\.(expand|as_strided)\(",  # and only the CPU reduces into one place
            r"fill_\(\w+, xp\.tensor\(1e\+?300",  # what becomes of what no integer is
            r"float16\)[^\n]*$.*\b(prod\(\w\)|v?dot\()",  # whether each product is rounded
            r"float16\)$.*mse_loss\(.*'none'",  # the CPU's own warning
            r"native_layer_norm\(.*float16",  # whose moments are floats, and parameters any
            r"\bindex(\.Tensor|_put_?)\(x, \[(None(, )?)*\]",  # whose assertion is the CPU's
            r"quantile[.\w]*\(.*functionalized\(",  # only on the CPU are ranks looked at
            r"quantile\(.*xp\.tensor\(\[?(2|-)",  # only on the CPU are ranks looked at
            r"(expand|as_strided)\(.*tri[lu]_\(",  # which share memory
            r"msort\(.*\dj.*out=",  # the CPU says first what it does not sort
            r"cross_entropy_loss\(.*, (3|-1), -100",  # a reduction that the device has not
            r"complex\(float\(",  # what becomes of complex numbers that are none
            r"\(-?2\*\*6[34]",  # ACL has no scalars of unsigned numbers
            r"sorted=False",  # in no order that documents name
            r"\[[^]]*\b(?P<twice>\d+),[^]]*\b(?P=twice)\b.*\.topk\(",  # which of two alike
            r"(sign|threshold|var_mean|std_mean|clamp)\w*\(.*(nan|inf)",  # what NaN becomes
            r"\binf.*complex(64|128)\)\n.*\*\*",  # and powers of complex infinities
            # what becomes of NaN and infinity as integers
            r"\b(a(tan|cos|sin)h?|r?sqrt|log\w*|(l|di)gamma|reciprocal)\.out\(t\[-?\d\], out=t\[",
            r"\blogit_\.default\(t\[",
            r"\b(true_)?div(ide)?_\.Tensor\((?P<by>t\[-?\d\]), (?P=by)\)",
            r"\b(true_)?div(ide)?_\.Tensor\(t\[-?\d\], xp\.tensor\(\[?(-?\d+, )*0\b[^.]",
            r"(nan|inf).*alpha=0\b",  # what BLAS does not multiply by nothing
            r"\.step\(\).*\.state(_dict)?\b",  # optimizers count their steps on the CPU
            r"pin_memory=True",  # what only the CPU's memory can be
            r"layout=xp\.(_mkldnn|sparse)",  # and what lies there otherwise than in strides
        )
    ),
    re.DOTALL | re.MULTILINE,
)
_HERE: Final = ast.parse("here()", mode="eval").body


def stays(text: str) -> bool:
    """Whether a text is about what only the CPU does, or ACL has not."""
    return _WITHOUT.search(text) is not None


def moved(text: str, factories: frozenset[str]) -> str | None:
    """The text with its tensors on ``here()``; None for one that makes none there.

    ``factories`` are those of a profile (:func:`factories_of`).
    """
    if stays(text):
        return None
    tree = ast.parse(text)
    shows_operators = "functionalized(" in text or "grad_fn" in text
    if shows_operators and any(map(_assigns_item, ast.walk(tree))):
        return None
    mover = _Mover(factories)
    tree = mover.visit(tree)
    return ast.unparse(tree) if mover.has_moved else None


def factories_of(profile: Profile) -> frozenset[str]:
    """Functions that take a device and no tensor to make one like it."""
    found = set(_FROM_VALUES)
    for operator in profile.schemas["schemas"]:
        arguments = operator.partition("(")[2].rpartition("->")[0]
        if "Device? device" in arguments and not re.search(r"\bTensor\S* ", arguments):
            found.add(operator.partition("(")[0].removeprefix("aten::").partition(".")[0])
    return frozenset(found)


def _assigns_item(node: ast.AST) -> bool:
    """Whether it is ``x[0] = 2``: torch itself calls other operators for that than on the CPU."""
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)


class _Mover(ast.NodeTransformer):
    """Gives devices to calls that have none."""

    def __init__(self, factories: frozenset[str]) -> None:
        self._factories = factories
        self.has_moved = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        named = {keyword.arg for keyword in node.keywords}
        if self._makes_tensors(node.func) and not named & {"device", "out"}:
            node.keywords.append(ast.keyword("device", _HERE))
            self.has_moved = True
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cpu" and not node.args:
            node.func.attr = "to"
            node.args.append(_HERE)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "numpy" and not node.args:
            node.func.value = ast.Call(ast.Attribute(node.func.value, "cpu"), [], [])
        if ast.unparse(node.func) == "xp.get_rng_state":
            return ast.Call(ast.Attribute(node, "to"), [_HERE], [])
        return node

    def _makes_tensors(self, function: ast.expr) -> bool:
        """Whether it is ``xp.ones`` or ``nn.Linear`` or the like."""
        if not isinstance(function, ast.Attribute):
            return False
        owner = ast.unparse(function.value)
        if owner in ("nn", "xp.nn"):
            return function.attr in _MODULES
        return owner == "xp" and function.attr in self._factories - _HOST

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value != "cpu":
            return node
        self.has_moved = True
        return _HERE
