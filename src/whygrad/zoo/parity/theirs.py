"""Somebody's script: which functions it has, and how they are called."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from whygrad.zoo.parity.case import Batch
from whygrad.zoo.tfjs.network import ModelError


@dataclass(frozen=True)
class Script:
    """``make_model()``; and if they are there ``loss``, ``load_weights`` and ``make_optimizer``."""

    path: Path
    make_model: Callable[[], Any]
    model: Any
    loss: Callable[..., Any] | None = None
    load_weights: Callable[..., Any] | None = None
    make_optimizer: Callable[[Any], Any] | None = None

    @property
    def framework(self) -> str:
        """Of the model that it makes."""
        roots = {kind.__module__.split(".")[0] for kind in type(self.model).__mro__}
        if not roots & {"torch", "keras"}:
            raise ModelError(
                f"{self.path.name} made a {type(self.model).__name__}, not a Keras model or a torch module"
            )
        return "torch" if "torch" in roots else "keras"

    @property
    def loss_takes_mode(self) -> bool:
        """Whether it is ``loss(online, target, batch, training)``."""
        return self.loss is not None and len(inspect.signature(self.loss).parameters) > 3

    def batch_of(
        self, batch: Batch, image: Callable[[Any], Any], other: Callable[[Any], Any]
    ) -> SimpleNamespace:
        """The batch as their loss gets it."""
        images = {"states": batch.states, "next_states": batch.next_states}
        others = ("actions", "rewards", "dones", "goals", "dropout_mask")
        rest = {name: getattr(batch, name) for name in others}
        made = {name: None if a is None else image(a) for name, a in images.items()}
        made |= {name: None if a is None else other(a) for name, a in rest.items()}
        return SimpleNamespace(**made, gamma=batch.gamma)


def load(path: Path, maker: str = "make_model") -> Script:
    """Execute the script (not as __main__) and look at what it defines."""
    if not path.is_file():
        raise ModelError(f"there is no {path}")
    spec = importlib.util.spec_from_file_location(f"parity_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent.resolve()))
    call_theirs(spec.loader.exec_module, module)
    make = getattr(module, maker, None)
    if not callable(make):
        raise ModelError(f"{path} has no function {maker}(); name it: {path}:my_function")
    optional = {name: getattr(module, name, None) for name in ("loss", "load_weights", "make_optimizer")}
    return Script(
        path, make, call_theirs(make), **{n: f if callable(f) else None for n, f in optional.items()}
    )


def call_theirs(function: Callable[..., Any], *args: Any) -> Any:
    """Their code fails in one sentence, with their line."""
    try:
        return function(*args)
    except ModelError:
        raise
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "whygrad" not in f.filename]
        own = [f for f in frames if "site-packages" not in f.filename and not f.filename.startswith("<")]
        where = f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
        first = (str(error).strip().splitlines() or [""])[0][:200]
        raise ModelError(f"your code raised {type(error).__name__}{where}: {first}") from None
