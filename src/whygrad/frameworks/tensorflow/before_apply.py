"""What is known of gradients before they are applied: the loss, and what they were before a clip."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.tensorflow.tapes import current_graph, graph_number

_MOST = 10_000


class _Thread(threading.local):
    """What has happened in this thread since gradients were last applied."""

    def __init__(self) -> None:
        self.losses: list[Any] = []
        self.graph = 0  # the number of the graph that they are in; 0 in eager code
        self.raw: dict[int, tuple[Any, Any]] = {}  # id of a clipped tensor -> itself, what it was before


class BeforeApply:
    """Notes of this thread since gradients were last applied."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._thread = _Thread()
        self._failed = failed
        self._patches = Patches()

    def install(self) -> None:
        """Clipping has no hook; nobody has to know but who writes summaries."""
        self._patches.wrap(tf, "clip_by_global_norm", self._clip_all)
        self._patches.wrap(tf, "clip_by_norm", self._clip_one)
        self._patches.wrap(tf, "clip_by_value", self._clip_one)

    def remove(self) -> None:
        """Take it out again."""
        self._patches.restore()
        self.clear()

    def _clip_all(self, original: Any) -> Any:
        @door
        def clip_by_global_norm(t_list: Any, *args: Any, **kwargs: Any) -> Any:
            t_list = list(t_list)
            result = original(t_list, *args, **kwargs)
            try:
                self._clipped(t_list, result[0])
            except Exception as error:
                self._failed(error)
            return result

        return clip_by_global_norm

    def _clip_one(self, original: Any) -> Any:
        @door
        def clip(t: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(t, *args, **kwargs)
            try:
                self._clipped([t], [result])
            except Exception as error:
                self._failed(error)
            return result

        return clip

    def _clipped(self, given: Sequence[Any], clipped: Sequence[Any]) -> None:
        """Gradients, or anything else: whoever applies them asks what they were before."""
        known = self._thread.raw
        if len(known) > _MOST:
            return
        for before, after in zip(given, clipped, strict=False):
            if before is not None and after is not None:
                first = known[id(before)][1] if id(before) in known else before
                known[id(after)] = (after, first)

    def differentiated(self, target: Any) -> None:
        """A tape was asked for the gradient of this."""
        thread, graph = self._thread, _graph()
        if thread.graph != graph:
            thread.losses, thread.graph = [], graph
        if len(thread.losses) < _MOST:
            thread.losses.append(target)

    def clear(self) -> None:
        """Gradients were applied."""
        self._thread.losses.clear()
        self._thread.raw.clear()

    def loss(self, optimizers: int) -> Any:
        """What the gradients are of, if that can be told: several losses may belong to several optimizers."""
        losses = self._thread.losses
        if not losses or (len(losses) > 1 and optimizers > 1) or self._thread.graph != _graph():
            return None
        flat = [tf.convert_to_tensor(t) for loss in losses for t in tf.nest.flatten(loss)]
        same = [t for t in flat if t.dtype.is_floating and t.shape.rank == 0]
        return tf.add_n(same) if len(same) == len(flat) and len({t.dtype for t in same}) == 1 else None

    def raw_of(self, gradients: Sequence[Any]) -> list[Any]:
        """What these were before they were clipped; nothing for those that were not."""
        known = self._thread.raw
        found = [known.get(id(g)) for g in gradients]
        return [f[1] if f is not None and f[0] is g else None for f, g in zip(found, gradients, strict=True)]


def _graph() -> int:
    graph = current_graph()
    return 0 if graph is None else graph_number(graph)
