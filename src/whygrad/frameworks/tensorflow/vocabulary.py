"""What TensorFlow's operations are called by people, and through which of them gradient flows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from whygrad.frameworks.tensorflow import private

#: Operation type -> the name that flows and rules know it by.
_NAMES = {
    "AddV2": "add",
    "AddN": "add",
    "Add": "add",
    "BiasAdd": "bias_add",
    "Sub": "sub",
    "Mul": "mul",
    "RealDiv": "div",
    "Div": "div",
    "DivNoNan": "div",
    "Neg": "neg",
    "Mean": "mean",
    "Sum": "sum",
    "Pack": "stack",
    "ConcatV2": "concat",
    "ExpandDims": "unsqueeze",
    "Identity": "clone",
    "IdentityN": "clone",
    "ReadVariableOp": "read",
    "Rint": "round",
    "StopGradient": "stop_gradient",
    "PreventGradient": "stop_gradient",
    "ArgMax": "argmax",
    "ArgMin": "argmin",
    "Multinomial": "multinomial",
    "StatelessMultinomial": "multinomial",
    "StatelessRandomBinomial": "bernoulli",
    "PyFunc": "numpy_function",
    "PyFuncStateless": "numpy_function",
    "EagerPyFunc": "py_function",
    "SelectV2": "where",
    "GatherV2": "gather",
    "ResourceGather": "gather",
    "TopKV2": "top_k",
    "SparseSoftmaxCrossEntropyWithLogits": "cross_entropy",
    "SoftmaxCrossEntropyWithLogits": "cross_entropy",
}
# Arithmetic in which a plain number may stand, and what it is called when the number comes first.
_REVERSED = {"sub": "rsub", "div": "rdiv", "pow": "rpow", "add": "add", "mul": "mul"}
_WITH_NUMBERS = frozenset((*_REVERSED, "maximum", "minimum"))
_KEEPING = frozenset(("cast", "clone", "reshape", "unsqueeze", "squeeze"))
# They have a gradient function, which gives nothing.
_NOTHING = frozenset(
    (
        "ArgMax",
        "ArgMin",
        "Round",
        "Rint",
        "Floor",
        "Ceil",
        "FloorDiv",
        "StopGradient",
        "PreventGradient",
        "PyFunc",
    )
)
_PASSING = frozenset(("variant", "resource"))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

READS = frozenset(("ReadVariableOp", "ResourceGather", "ResourceGatherNd"))
WRITES = frozenset(
    (
        "AssignVariableOp",
        "AssignAddVariableOp",
        "AssignSubVariableOp",
        "ResourceScatterUpdate",
        "ResourceScatterNdUpdate",
        "ResourceScatterAdd",
        "ResourceScatterSub",
        "ResourceStridedSliceAssign",
    )
)
CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
LEAVES = frozenset(("PyFunc", "PyFuncStateless"))

_known: dict[str, bool] = {}


def name_of(op_type: str) -> str:
    """``AddV2`` is ``add``, ``StridedSlice`` is ``strided_slice``."""
    return _NAMES.get(op_type) or _CAMEL.sub("_", op_type).lower().removesuffix("_v2")


def spoken(name: str, numbers: Sequence[float | None]) -> tuple[str, tuple[float, ...], list[int]]:
    """Arithmetic as it was written: ``Mul(0.99, q)`` is ``mul`` of ``q`` with the number 0.99.

    ``numbers`` has what is known of each input; the last result are the inputs that stay.
    """
    known = [i for i, number in enumerate(numbers) if number is not None]
    if name not in _WITH_NUMBERS or len(numbers) != 2 or len(known) != 1:
        return name, (), list(range(len(numbers)))
    number = numbers[known[0]]
    assert number is not None
    if known[0] == 0:
        name = _REVERSED.get(name, name)
    return name, (number,), [1 - known[0]]


def keeps_number(name: str) -> bool:
    """Is a number still that number after this?"""
    return name in _KEEPING


def passes(op_type: str, dtype: Any) -> bool:
    """Does gradient go through this operation to a result of this type?"""
    if not (dtype.is_floating or dtype.is_complex or dtype.name in _PASSING):
        return False
    known = _known.get(op_type)
    if known is None:
        registered = private.has_gradient(op_type)
        known = _known[op_type] = registered is not False and op_type not in _NOTHING
    return known
