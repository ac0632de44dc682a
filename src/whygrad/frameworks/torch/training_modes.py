"""``net.train()`` and ``net.eval()``: who was put into which mode, and where."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Protocol

import torch

from whygrad.doors import door
from whygrad.frameworks.shared.frames import Where, locate
from whygrad.frameworks.shared.nodes import clock
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.shared.ports import Recording, Safety
from whygrad.frameworks.shared.records import SwitchRecord
from whygrad.frameworks.torch import modules
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.tracing import alone

_MOST = 64  # lines


class _Thread(threading.local):
    switching: bool = False  # a module is telling its children in which mode they are


class _Observer(Safety, Recording, Protocol): ...


class TrainingModes:
    """The lines that switch, while recording is on."""

    def __init__(self, observer: _Observer, recorder: Recorder) -> None:
        self._observer, self._recorder = observer, recorder
        self._thread = _Thread()
        self.lines: dict[tuple[Where | None, bool], SwitchRecord] = {}

    def install(self, patches: Patches) -> None:
        """``eval`` calls ``train``; so does every module for its children."""
        patches.wrap(torch.nn.Module, "train", self._train)

    def _train(self, original: Any) -> Any:
        @door
        def train(module: Any, *args: Any, **kwargs: Any) -> Any:
            here = self._thread
            outer, here.switching = not here.switching, True
            try:
                result = original(module, *args, **kwargs)
            finally:
                here.switching = not outer
            try:
                if outer and self._observer.recording():
                    with alone():
                        self._switched(module, args, kwargs, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return train

    def _switched(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        training, where = (args or tuple(kwargs.values()) or (True,))[0] is not False, locate(frame)
        last = self.lines.get((where, training))
        params = {p.key: p for p in map(self._recorder.param, modules.parameters(module))}
        if last is None and len(self.lines) < _MOST:
            self.lines[where, training] = SwitchRecord(where, training, params)
        elif last is not None:
            last.time = clock()
            last.touched.update(params)
