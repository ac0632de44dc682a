"""Plain python with a probe: which gradients arrive at steps, and which weights come out.

Two runs that agree in all of it are of the same program as far as training goes.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


class Probe:
    """What has been seen so far."""

    def __init__(self) -> None:
        self.made: list[Any] = []  # parameters, in the order in which they were made; kept alive
        self.known: set[int] = set()
        self.first: list[Any] = []
        self.steps = 0
        self.missing = 0
        self.zero = 0

    def meet(self, parameter: Any) -> None:
        """A parameter, when it is first seen."""
        if id(parameter) not in self.known:
            self.known.add(id(parameter))
            self.made.append(parameter)
            self.first.append(_array(parameter))

    def step(self, gradients: list[Any]) -> None:
        """An optimizer steps."""
        self.steps += 1
        self.missing += sum(g is None for g in gradients)
        arrays = [_array(g) for g in gradients if g is not None]
        self.zero += sum(a is not None and not np.any(a) for a in arrays)

    def summary(self) -> dict[str, Any]:
        """Everything that is compared."""
        ends = [_array(p) for p in self.made]
        moved = [_moved(a, b) for a, b in zip(self.first, ends, strict=True)]
        sums = [_sums(a) for a in ends]
        return {
            "steps": self.steps,
            "missing": self.missing,
            "zero": self.zero,
            "moved": moved,
            "weights": sums,
        }


def _array(value: Any) -> Any:
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
        return np.array(value, dtype=np.float64)
    except Exception:  # symbolic, uninitialised, of another kind
        return None


def _moved(first: Any, end: Any) -> bool:
    return first is None or end is None or first.shape != end.shape or not np.array_equal(first, end)


def _sums(array: Any) -> list[float]:
    if array is None or not array.size:
        return []
    weights = np.cos(np.arange(array.size))  # so that an exchange of two entries is seen
    return [float(np.abs(array).sum()), float(array.ravel() @ weights)]


def watch_torch(probe: Probe) -> None:
    """Modules' parameters, and every optimizer's steps."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    register = torch.nn.Module.register_parameter

    def registering(self: Any, name: str, parameter: Any) -> None:
        register(self, name, parameter)
        if parameter is not None:
            probe.meet(parameter)

    torch.nn.Module.register_parameter = registering

    def stepping(optimizer: Any, args: Any, kwargs: Any) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        for parameter in held:
            probe.meet(parameter)
        probe.step([p.grad for p in held])

    register_optimizer_step_pre_hook(stepping)


def watch_tensorflow(probe: Probe) -> None:
    """Variables, and what optimizers are given."""
    import keras
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    init = ResourceVariable.__init__

    def initialised(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        probe.meet(self)

    ResourceVariable.__init__ = initialised
    base = keras.optimizers.Optimizer
    apply = base.apply

    def applying(self: Any, grads: Any, trainable_variables: Any = None, **kwargs: Any) -> Any:
        grads = list(grads)
        probe.step(grads)
        return apply(self, grads, trainable_variables, **kwargs)

    base.apply = applying


def run(script: str, argv: list[str], report: Path) -> int:
    """Run a script as python would, and write what the probe saw."""
    probe = Probe()
    if "torch" in sys.modules:
        watch_torch(probe)
    if "tensorflow" in sys.modules:
        watch_tensorflow(probe)
    _same_start()
    sys.argv = [script, *argv]
    sys.path.insert(0, str(Path(script).parent))
    main = ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    error, line, code = "", 0, 0
    try:
        exec(compile(Path(script).read_text(), script, "exec"), main.__dict__)
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException as raised:
        traceback.print_exc()
        frames = [f for f in traceback.extract_tb(raised.__traceback__) if f.filename == script]
        error, code = f"{type(raised).__name__}: {raised}", 1
        line = frames[-1].lineno or 0 if frames else 0
    report.write_text(json.dumps({**probe.summary(), "error": error[:600], "error_line": line}))
    return code


def _same_start() -> None:
    """Programs that set no seed shall be comparable, too."""
    import random

    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(0)
