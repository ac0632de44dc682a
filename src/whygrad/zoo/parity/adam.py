"""Adam and what people have in its place, in numpy: which one explains somebody's steps?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from whygrad.zoo.parity.case import Arrays, Key

RATE, EPSILON = 1e-3, 1e-7
STEPS = 3


@dataclass(frozen=True)
class Adam:
    """One way to take a step."""

    slug: str = ""
    what: str = ""
    fix: str = "Adam(learning rate 1e-3, betas 0.9 and 0.999, epsilon 1e-7 after the bias correction)"
    rate: float = RATE
    epsilon: float = EPSILON
    early_epsilon: bool = False  # added before the bias correction, as Keras does
    corrected: bool = True
    decay: float = 0.0
    clip: float | None = None
    plain: str = ""  # sgd, rmsprop

    def steps(self, start: np.ndarray, gradients: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The weights after each step."""
        w, m, v = start.astype(np.float64), np.zeros(start.shape), np.zeros(start.shape)
        after = []
        for t, gradient in enumerate(gradients, 1):
            g = gradient.astype(np.float64)
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
            w = w * (1 - self.rate * self.decay) - self.rate * self._direction(g, m, v, t)
            after.append(w.astype(np.float32))
        return after

    def _direction(self, g: np.ndarray, m: np.ndarray, v: np.ndarray, t: int) -> np.ndarray:
        if self.plain == "sgd":
            return g
        first, second = (1 - 0.9**t, 1 - 0.999**t) if self.corrected else (1.0, 1.0)
        if self.early_epsilon:
            return np.sqrt(second) / first * m / (np.sqrt(v) + self.epsilon)
        return m / first / (np.sqrt(v / second) + self.epsilon)


_KERAS = (
    "Keras adds epsilon before the bias correction; use torch's form, or epsilon * sqrt(1 - 0.999 ** step)"
)
CANDIDATES = (
    Adam(
        "adam-epsilon",
        "Adam with epsilon 1e-8, the default of torch",
        "torch.optim.Adam(..., eps=1e-7)",
        epsilon=1e-8,
    ),
    Adam(
        "adam-epsilon",
        "Adam with epsilon before the bias correction, as Keras does it",
        _KERAS,
        early_epsilon=True,
    ),
    Adam(
        "adam-epsilon",
        "Adam with epsilon 1e-8 before the bias correction",
        _KERAS,
        epsilon=1e-8,
        early_epsilon=True,
    ),
    *(
        Adam("adam-epsilon", f"Adam with epsilon {e:g}", epsilon=e)
        for e in (1e-3, 1e-4, 1e-5, 1e-6, 1e-9, 1e-10, 0.0)
    ),
    *(
        Adam("learning-rate", f"a learning rate of {r:g}", rate=r)
        for r in (1e-2, 1e-4, 3e-4, 5e-4, 2.5e-4, 2e-3, 5e-5)
    ),
    Adam("adam-uncorrected", "Adam without bias correction", corrected=False),
    Adam("weight-decay", "AdamW with weight decay 0.01", "use Adam", decay=0.01, epsilon=1e-8),
    Adam(
        "weight-decay", "AdamW with weight decay 0.004 (Keras)", "use Adam", decay=0.004, early_epsilon=True
    ),
    Adam("not-adam", "plain gradient descent", "use Adam", plain="sgd"),
)


def probe(variables: Arrays) -> list[dict[Key, np.ndarray]]:
    """Gradients from 1e-9 to 1, so that an epsilon shows itself whatever the network's own gradients are."""
    rng = np.random.default_rng(5)
    steps = []
    for _ in range(STEPS):
        step = {}
        for key, array in variables.items():
            size = 10.0 ** rng.uniform(-9, 0, array.shape)
            step[key] = (size * rng.choice([-1, 1], array.shape)).astype(np.float32)
        steps.append(step)
    return steps


def expected(start: Arrays, gradients: Sequence[Arrays], adam: Adam | None = None) -> list[Arrays]:
    """The weights after each step of one way to take them."""
    way = adam or Adam()
    columns = {key: way.steps(start[key], [step[key] for step in gradients]) for key in gradients[0]}
    return [{key: column[i] for key, column in columns.items()} for i in range(len(gradients))]


def largest(a: Sequence[Arrays], b: Sequence[Arrays]) -> float:
    """The largest difference between two courses."""
    return max(float(np.abs(x[key] - y[key]).max(initial=0)) for x, y in zip(a, b, strict=True) for key in y)


def explain(start: Arrays, run: Callable[[list[Arrays]], list[Arrays]]) -> tuple[float, Adam | None]:
    """How far somebody's optimizer is from Adam on the probe, and what it is instead."""
    gradients = probe({key: array for key, array in start.items() if "moving" not in key[1]})
    got = run(list(gradients))
    off = largest(got, expected(start, gradients))
    for way in CANDIDATES:
        if off > 1e-5 and largest(got, expected(start, gradients, way)) < min(1e-5, off / 10):
            return off, way
    return off, None
