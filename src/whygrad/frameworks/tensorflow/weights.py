"""Have the values of a variable changed? Are those of two networks the same?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.records import CopyRecord
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.variables import Variables, handle_of

_MOST = 4096  # variables
_LONG = 4_000_000  # elements


def values_of(variable: Any) -> Any:
    """The values of a variable as an array; nothing if it has none yet."""
    if not handle_of(variable):
        return None
    try:
        with tf.init_scope():
            kind = tf.as_dtype(variable.dtype)
            return private.contents(tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=kind))
    except (tf.errors.OpError, TypeError, ValueError):  # made in a traced function, and not initialised yet
        return None


def is_flat(array: Any) -> bool:
    """Zeros and ones are in every network: biases that have not learnt yet."""
    return bool(array.size == 0 or array.min() == array.max())


def fingerprint(variable: Any) -> float | None:
    """A number that changes when the values of a variable do."""
    return _fingerprint(values_of(variable))


def _fingerprint(values: Any) -> float | None:
    """A number that changes when the values do."""
    if values is None or values.dtype.kind != "f" or values.size > _LONG:
        return None
    return float(values.sum(dtype=np.float64))


class Weights:
    """Looks at the values of all variables once, when the first step is about to be taken."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self._looked = 0
        self._twins: list[tuple[Param, Param]] = []  # (one, another with the very same values)

    def look(self) -> None:
        """At those that nobody has looked at yet."""
        params = self._variables.params
        if self._looked == len(params) or len(params) > _MOST:
            return
        new = {}
        for param in list(params.values()):
            if param.print is None and not param.trained:
                values = values_of(param.ref())
                param.print = _fingerprint(values)
                if param.print is not None and not is_flat(values):
                    new[param] = values
        self._looked = len(params) if all(p.print is not None or p.trained for p in params.values()) else -1
        self._compare(new)

    def _compare(self, new: dict[Param, Any]) -> None:
        by_print: dict[tuple[Any, ...], list[Param]] = {}
        for param, values in new.items():
            for other in by_print.setdefault((param.shape, param.print), []):
                if np.array_equal(new[other], values):
                    self._twins += [(param, other), (other, param)]
            by_print[param.shape, param.print].append(param)

    def copies(self, params: Mapping[int, Param]) -> Iterable[CopyRecord]:
        """Networks that began with the same weights throughout: one was copied from the other, somehow."""
        kernels: dict[str, int] = {}
        for param in params.values():
            kernels[param.network] = kernels.get(param.network, 0) + (len(param.shape) > 1)
        pairs: dict[tuple[str, str], list[tuple[Param, Param]]] = {}
        for one, two in self._twins:
            one, two = params.get(one.key, one), params.get(two.key, two)
            follows = one.trained > two.trained or (one.trained == two.trained and one.key < two.key)
            if one.network != two.network and follows:
                pairs.setdefault((one.network, two.network), []).append((one, two))
        for (source, target), found in pairs.items():
            if len(found) >= kernels[source] == kernels[target]:
                for one, two in found:
                    yield CopyRecord(one, two, None, "the same values", 1.0, 0.0, first=0)
