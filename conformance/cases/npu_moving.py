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
    (
        *("Linear", "Embedding", "LayerNorm", "RMSNorm", "Conv2d"),
        *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
        *("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
    )
)
"""Those with parameters or buffers, which take a device."""
_WITHOUT: Final = re.compile(
    "|".join(
        (
            # dtypes that ACL has not
            r"float8|complex32|chalf|\b(float16|half)\b.*\dj|\dj.*\b(float16|half)\b",
            r"device='meta'",  # what a tensor on the CPU may mix with if it has no dimensions
            r"_dispatch_",  # what asks the dispatcher for keys or kernels
            r"repr\(\(?[wxy]\b|str\([wy]|repr\(nn.Parameter",  # tensors as text
            r"(_replace|_mutation|_wrapped_functional)\((x, )?\(?(None|1)",  # and in messages
            r"_batch_norm_with_update\(.*_batch_norm_with_update\(.*, out=",
            r"embedding_dense_backward\(.* - 1",  # rows that there are not
            r"_foreach_addc\w+\(.*, xp\.",  # numbers in a tensor that must be on the CPU
            r"aten\.(arange|eye|full|ones|zeros)(\.\w+)?\((?![^\n]*device)",  # on the CPU as it is
            r"aten\.meshgrid\b",  # whose refusal shows tensors as text
            r"\b(mv\.out|mean\.dtype_out)\(.*dtype=",  # which of two things that are wrong is said
            r"_loss\(.*nbytes\(\)",  # how much memory a result takes
            r"clip_grad_norm_\(\[[^p]*\]",  # without a gradient torch's answer is on the CPU
            r"as_tensor\(.*numpy\(",  # memory shared with the host
            # makes a tensor on the CPU, wherever its own are
            r"linspace[.\w]*\(([^,()]*, *)?xp\.|(lin|log)space\.\w*Tensor",
            r"rng_state|[gs]et_state",  # which is on the CPU
            # where to split must be on the CPU
            r"tensor_split(\(\w+, a\d|\(.*xp\.tensor\(|\.tensor_indices)",
            r"\b(2 [*/] x|x [*/] 2)$.*_saved_other",  # a number as a tensor is on the CPU
            r"where\(.*1e\+?300",  # only on the CPU is a number converted unchecked
            r"float16\)[^\n]*$.*\b(prod|v?dot)\(",  # whether each product is rounded
            r"linspace\(.*float16\)$.*rounding_mode=",  # what a half is rounded to
            r"float16\).*rsqrt\(.*out=.*float32",  # and what of it a float shows
            r"1e\+?30, 1e-30.*\bprod\(",  # products beyond the range of a float
            r"conv_transpose3d\(.*float16",  # whether each sum is rounded
            r"view\(xp\.complex\d+\).*\bpow",  # the sign of a zero, seen in its bits
            # values that are roundings alone
            r"native_layer_norm\([^\n]*float16[^\n]*, \(1,\)",
            r"_softmax_backward_data\(xp\.tensor\([^)]*float16",
            r"Linear\(.*BatchNorm1d\(.*register_module|float16.*softmax\(-1\).*backward",
            r"float16\)$.*mse_loss\(.*'none'|mse_loss\(.*float16\)",  # the CPU's own warning
            # squares beyond the range of a float
            r"(\de\+?(20|30|38|200)\b|'inf').*layer_norm\(",
            r"\bindex(\.Tensor|_put_?)\(x, \[(None(, )?)*\]",  # whose assertion is the CPU's
            r"quantile[.\w]*\(.*functionalized\(",  # only on the CPU are ranks looked at
            r"quantile\(.*xp\.tensor\(\[?(2|-)",  # only on the CPU are ranks looked at
            r"cross_entropy_loss\(.*, (3|-1), -100",  # a reduction that the device has not
            r"\.step\(\).*\.state(_dict)?\b",  # optimizers count their steps on the CPU
            r"pin_memory(=True|\(.)",  # what only the CPU's memory can be
            r"to_mkldnn|layout=xp\.(_mkldnn|sparse)",  # and what does not lie in strides
            r"_test_ambiguous_defaults|\.type\('torch\.\w+'",  # whose answer is on the CPU
            r"out=([\d.]+j?|True)\)",  # a number as a tensor is on the CPU
            r"as_strided_\(.*-1.*numpy\(",  # a copy on the host of what has no size
            r"_efficientzerotensor\(.*\] = ",  # for which a device calls another operator
            # for which a device calls other operators, with other words, and whose lengths are on
            # the CPU
            r"\b(lstm|gru|rnn_tanh|rnn_relu|_pack_padded_sequence|_pad_packed_sequence)\b",
            r"_rowwise_prune\(",  # whose places are on the CPU
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
