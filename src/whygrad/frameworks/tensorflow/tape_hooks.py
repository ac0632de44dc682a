"""Where whygrad stands at a tape: it is entered and left, paused, reset, told to watch, and asked."""

from __future__ import annotations

import sys
from functools import partial
from types import FrameType
from typing import Any, Protocol

import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.shared.patches import Patches, afterwards
from whygrad.frameworks.tensorflow import shares
from whygrad.frameworks.tensorflow.before_apply import BeforeApply
from whygrad.frameworks.tensorflow.differentiating import Differentiating
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.tapes import Tapes


class _Observer(Listener, Protocol):
    def wants_losses(self) -> bool: ...

    def tape_entered(self, tape: Any, frame: FrameType) -> None: ...

    def tape_reset(self, tape: Any, frame: FrameType) -> None: ...

    def told_to_watch(self, tape: Any, tensor: Any) -> None: ...


class TapeHooks:
    """The patches of ``tf.GradientTape``."""

    def __init__(
        self, observer: _Observer, tapes: Tapes, differentiating: Differentiating, before_apply: BeforeApply
    ) -> None:
        self._observer, self._tapes = observer, tapes
        self._differentiating, self._before_apply = differentiating, before_apply

    def install(self, patches: Patches) -> None:
        """Put them in."""
        safely, lost, tape = self._observer.safely, self._observer.stepped_aside, tf.GradientTape
        patches.wrap(tape, "__enter__", self._enter)
        patches.wrap(tape, "__exit__", afterwards(partial(safely, self._left), lost))
        patches.wrap(tape, "stop_recording", self._stop_recording)
        patches.wrap(tape, "reset", afterwards(partial(safely, self._observer.tape_reset), lost))
        patches.wrap(tape, "watch", self._watch_tensor)
        for name in ("gradient", "jacobian", "batch_jacobian"):
            patches.wrap(tape, name, self._gradient)

    def _left(self, tape: Any, frame: FrameType) -> None:
        self._tapes.left(tape)

    def _enter(self, original: Any) -> Any:
        @door
        def __enter__(tape: Any) -> Any:
            keeping = False
            try:
                keeping = self._observer.safely(self._keeps, tape)
            except Exception as ours:
                self._observer.stepped_aside(ours)
            if keeping:
                tape._persistent = True  # nobody is told
            try:
                result = original(tape)
            finally:
                if keeping:
                    tape._persistent = False
            try:
                self._observer.safely(self._observer.tape_entered, tape, sys._getframe(1))
            except Exception as ours:
                self._observer.stepped_aside(ours)
            return result

        return __enter__

    def _keeps(self, tape: Any) -> bool:
        """Shall this tape be able to answer more than once?"""
        return self._differentiating.keeps() and shares.may_keep(tape)

    def _stop_recording(self, original: Any) -> Any:
        @door
        def stop_recording(tape: Any) -> Any:
            block = original(tape)
            try:
                return _Pause(self._observer, self._tapes, tape, block)
            except Exception as ours:
                self._observer.stepped_aside(ours)
                return block

        return stop_recording

    def _watch_tensor(self, original: Any) -> Any:
        @door
        def watch(tape: Any, tensor: Any) -> None:
            original(tape, tensor)
            try:
                self._observer.safely(self._observer.told_to_watch, tape, tensor)
            except Exception as ours:
                self._observer.stepped_aside(ours)

        return watch

    def _gradient(self, original: Any) -> Any:
        @door
        def gradient(tape: Any, *args: Any, **kwargs: Any) -> Any:
            observer, record = self._observer, None
            try:
                if observer.wants_losses():
                    self._before_apply.differentiated(args[0] if args else kwargs.get("target"))
                record = self._differentiating.begins(original, tape, args, kwargs, sys._getframe(1))
            except Exception as ours:
                observer.stepped_aside(ours)
            observer.thread.resting += 1
            try:
                result = original(tape, *args, **kwargs)
            except BaseException as error:
                try:
                    if record is not None:
                        record.error = f"{type(error).__name__}: {error}"
                except Exception as ours:
                    observer.stepped_aside(ours)
                raise
            finally:
                observer.thread.resting -= 1
            try:
                if record is not None:
                    self._differentiating.ends(record, args, kwargs, result)
            except Exception as ours:
                observer.stepped_aside(ours)
            return result

        return gradient


class _Pause:
    """``with tape.stop_recording()``."""

    def __init__(self, observer: Listener, tapes: Tapes, tape: Any, block: Any) -> None:
        self._observer, self._tapes, self._tape, self._block = observer, tapes, tape, block

    @door
    def __enter__(self) -> Any:
        result = self._block.__enter__()
        try:
            self._observer.safely(self._tapes.left, self._tape)
        except Exception as ours:
            self._observer.stepped_aside(ours)
        return result

    @door
    def __exit__(self, *error: Any) -> Any:
        result = self._block.__exit__(*error)
        try:
            self._observer.safely(self._tapes.resumed, self._tape)
        except Exception as ours:
            self._observer.stepped_aside(ours)
        return result
