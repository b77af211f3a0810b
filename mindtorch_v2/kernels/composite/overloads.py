"""Overloads and other names that only pass their arguments on.

Mirrors the one-line functions of ``aten/src/ATen/native/BinaryOps.cpp`` and ``UnaryOps.cpp``.  A
number for a tensor is wrapped by whoever takes it.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.handle import OperatorHandle, PassedOn

_MUL_OUT: Final = OperatorHandle("aten::mul.out")
KEYS: Final = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CPU")
"""Where torch has them; an operator stands at one."""


def pass_on(name: str, target: str) -> None:
    """Make ``name`` an operator that calls ``target``."""
    kernel = PassedOn(OperatorHandle(f"aten::{target}"))
    for key in KEYS:
        rows.add(f"aten::{name}", key, kernel)


#: Operators of two tensors that have an overload ``Scalar`` for a number, with their other forms.
_WITH_SCALAR: Final = [
    "add",
    "sub",
    "mul",
    "div",
    "remainder",
    "fmod",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "copysign",
]
#: The same with a number on the left.
_WITH_SCALAR_TENSOR: Final = [
    "remainder",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
]

for _name in _WITH_SCALAR:
    pass_on(f"{_name}.Scalar", f"{_name}.Tensor")
    if _name != "mul":
        pass_on(f"{_name}_.Scalar", f"{_name}_.Tensor")
for _name in ("remainder", "fmod", "bitwise_and", "bitwise_or", "bitwise_xor"):
    pass_on(f"{_name}.Scalar_out", f"{_name}.Tensor_out")
for _name in _WITH_SCALAR_TENSOR:
    pass_on(f"{_name}.Scalar_Tensor", f"{_name}.Tensor")
for _name in ("bitwise_left_shift", "bitwise_right_shift"):
    pass_on(f"{_name}.Tensor_Scalar", f"{_name}.Tensor")
    pass_on(f"{_name}_.Tensor_Scalar", f"{_name}_.Tensor")
    pass_on(f"{_name}.Tensor_Scalar_out", f"{_name}.Tensor_out")
pass_on("copysign.Scalar_out", "copysign.out")
pass_on("linalg_diagonal", "diagonal")
pass_on("special_log_softmax", "log_softmax.int")
pass_on("special_round", "round.decimals")
pass_on("special_round.out", "round.decimals_out")
for _name in ("concat", "concatenate"):
    pass_on(f"{_name}.names", "cat.names")
    pass_on(f"{_name}.names_out", "cat.names_out")


@rows.kernel("aten::mul_.Scalar", keys=KEYS)
def mul_scalar_(self: Any, other: Any) -> Any:
    """The number stands first: of float8 that is another switch than that of the tensor form."""
    return _MUL_OUT(other, self, out=self)


pass_on("div.Scalar_mode", "div.Tensor_mode")
pass_on("div_.Scalar_mode", "div_.Tensor_mode")
pass_on("floor_divide.Scalar", "floor_divide")
pass_on("floor_divide_.Scalar", "floor_divide_.Tensor")

for _overload, _name in (
    ("", "Tensor"),
    (".self_scalar", "Scalar_Self"),
    (".other_scalar", "Scalar_Other"),
    (".out", "OutTensor"),
    (".self_scalar_out", "OutScalar_Self"),
    (".other_scalar_out", "OutScalar_Other"),
):
    pass_on(f"special_xlogy{_overload}", f"xlogy.{_name}")

for _side in ("self_scalar", "other_scalar"):
    for _name in ("special_xlog1py", "special_zeta"):
        pass_on(f"{_name}.{_side}", _name)
        pass_on(f"{_name}.{_side}_out", f"{_name}.out")

for _polynomial in (
    *(f"{_kind}chebyshev_polynomial_{_letter}" for _kind in ("", "shifted_") for _letter in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    "legendre_polynomial_p",
):
    for _side in ("x_scalar", "n_scalar"):
        pass_on(f"special_{_polynomial}.{_side}", f"special_{_polynomial}")
        pass_on(f"special_{_polynomial}.{_side}_out", f"special_{_polynomial}.out")

#: Other names, with all overloads and forms that both have.
_ALIASES: Final = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "linalg_matmul": "matmul",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "special_digamma": "digamma",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_erfinv": "erfinv",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_gammainc": "igamma",
    "special_gammaincc": "igammac",
    "special_gammaln": "lgamma",
    "special_i0": "i0",
    "special_log1p": "log1p",
    "special_logit": "logit",
    "special_multigammaln": "mvlgamma",
    "special_polygamma": "polygamma",
    "special_psi": "digamma",
    "special_sinc": "sinc",
    "subtract": "sub",
    "true_divide": "div",
}
_OVERLOADS: Final = ("", ".Tensor", ".Scalar", ".Tensor_mode", ".Scalar_mode")
_OUT_OVERLOADS: Final = (".out", ".Tensor_out", ".Scalar_out", ".out_mode")

for _alias, _name in _ALIASES.items():
    for _overload in _OVERLOADS:
        pass_on(f"{_alias}{_overload}", f"{_name}{_overload}")
        pass_on(f"{_alias}_{_overload}", f"{_name}_{_overload}")
    for _overload in _OUT_OVERLOADS:
        pass_on(f"{_alias}{_overload}", f"{_name}{_overload}")
for _name in ("and", "or", "xor"):
    for _overload in (".Tensor", ".Scalar"):
        pass_on(f"__{_name}__{_overload}", f"bitwise_{_name}{_overload}")
        pass_on(f"__i{_name}__{_overload}", f"bitwise_{_name}_{_overload}")
for _name in ("max", "min"):
    pass_on(f"{_name}.other", f"{_name}imum")
    pass_on(f"{_name}.out", f"{_name}imum.out")
