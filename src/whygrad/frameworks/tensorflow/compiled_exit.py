"""The exit of compiled updates: what leaves them is decided here, while they are traced, and nowhere else.

The gradients that an optimizer is given leave once, whoever wants them: looks and summaries, zeros behind a
condition, what the optimizer itself clips. What ``tf.clip_by_norm`` and its kin are given leaves by itself:
nobody knows yet whether it will be applied.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.nodes import Node, cone
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.before_apply import BeforeApply
from whygrad.frameworks.tensorflow.compiled_gradients import Sent, Traced, found, in_a_branch, packs
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.summaries import Summarizing, by_the_optimizer
from whygrad.frameworks.tensorflow.tapes import outermost

_ACTIVATIONS = frozenset(("Relu", "Relu6", "Tanh", "Sigmoid"))
_SMALL, _UNKNOWN = 1 << 20, 256  # elements of all of them; a dimension that is not known yet

Told = Callable[[], list[Any] | None]  # what left the last time, in the order in which it was sent


class Exit:
    """Sends what is wanted of updates that are being traced."""

    def __init__(
        self, observer: Summarizing, optimizers: Optimizers, recorder: Recorder, before_apply: BeforeApply
    ) -> None:
        self._observer, self._optimizers = observer, optimizers
        self._recorder, self._before_apply = recorder, before_apply
        self._probed: weakref.WeakKeyDictionary[Traced, list[Node]] = weakref.WeakKeyDictionary()
        self.used = False  # something has left, so there is something to look at

    def applied(
        self,
        record: OptimizerRecord,
        graph: Any,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        wanted: bool,
    ) -> Told | None:
        """The gradients of an update. ``wanted``: also where that keeps the function from being saved."""
        summaries, sees = self._observer.summaries, not private.in_xla(graph)
        if not packs(graph) and summaries is None and not (wanted and sees):
            return None
        used, raw = list(gradients), self._before_apply.raw_of(gradients)
        if summaries is not None:
            used, raw = by_the_optimizer(record.ref(), used, variables, raw)
        traced = self._place(record, graph, used, raw, variables)
        if not (wanted and sees):
            return None
        same = all(one is other for one, other in zip(used, gradients, strict=True))
        return traced.gradients if same else Sent(gradients).take

    def clipped(self, gradients: Sequence[Any]) -> Told | None:
        """What is about to be clipped."""
        if private.in_xla(tf.compat.v1.get_default_graph()):  # XLA would compute other bits
            return None
        with self._observer.resting():
            return Sent(gradients).take

    def probed(self, traced: Traced) -> Sequence[Node]:
        """The values behind the loss that leave with the gradients."""
        return self._probed.get(traced, ())

    def _place(
        self,
        record: OptimizerRecord,
        graph: Any,
        gradients: Sequence[Any],
        raw: Sequence[Any],
        variables: Sequence[Any],
    ) -> Traced:
        together, branch = packs(graph), in_a_branch(graph)
        loss = self._before_apply.loss(len(self._optimizers))
        suspects = self._suspects(record, graph) if together else {}
        traced = Traced(record.ref(), gradients, raw, variables, loss, list(suspects.values()), branch)
        self._probed[traced] = list(suspects)
        if self._observer.summaries is not None and (branch or not together):
            traced.count()
        for where in dict.fromkeys((graph, outermost(graph))):
            found(where, traced)
        self.used = True
        return traced

    def _suspects(self, record: OptimizerRecord, graph: Any) -> dict[Node, Any]:
        """Results of activations, beyond which there may be nothing but zeros, as far as they are small."""
        backwards = record.updates[-1].backwards if record.updates else ()
        behind = set(cone(root for backward in backwards for root in backward.roots))
        suspects: dict[Node, Any] = {}
        size = 0
        activations = [op.outputs[0] for op in graph.get_operations() if op.type in _ACTIVATIONS]
        for tensor in activations:
            node = self._recorder.graphs.node(tensor)
            if node in behind and tensor.shape.rank is not None:
                size += math.prod(_UNKNOWN if n is None else n for n in tensor.shape.as_list())
                if size < _SMALL:
                    suspects[node] = tensor
        return suspects
