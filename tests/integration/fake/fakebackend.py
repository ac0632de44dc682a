"""Watches fakeframe; FAKE_FAIL names the method that fails."""

from __future__ import annotations

import os
import sys

import fakeframe

from whygrad.frameworks.protocol import Observation
from whygrad.model import Evidence, Note, UpdateCount


def _maybe_fail(what):
    if os.environ.get("FAKE_FAIL") == what:
        raise RuntimeError(f"our own bug in {what}")


class FakeBackend:
    framework = "fakeframe"

    def __init__(self):
        self.steps = 0
        self._asked = None
        self.notes = [Note(f"complete: {fakeframe.complete}")]

    def attach(self, setup):
        fakeframe.hooks.append(self._stepped)
        self._setup = setup
        _maybe_fail("attach")

    def detach(self):
        if self._stepped in fakeframe.hooks:
            fakeframe.hooks.remove(self._stepped)
        _maybe_fail("detach")

    def failed(self, error):
        frames, traceback = [], error.__traceback__
        while traceback:
            frames.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        self.notes.append(Note(f"failed: {type(error).__name__} in {frames}"))
        _maybe_fail("failed")

    def judged(self, updates):
        _maybe_fail("judged")
        return self.steps >= updates

    def observe(self):
        _maybe_fail("observe")
        self.notes.append(Note(f"names: {sorted(n for n in self._setup.namespace() if n.startswith('my_'))}"))
        return Observation(
            Evidence(), (UpdateCount("opt", self.steps, self.steps),), tuple(self.notes), "9.9"
        )

    def peek(self):
        _maybe_fail("peek")
        return Observation(Evidence(), (UpdateCount("opt", self.steps, self.steps),), (), "9.9")

    def after_next_step(self, call):
        self._asked = call

    def _stepped(self):
        self.steps += 1
        call, self._asked = self._asked, None
        if call:
            call()
        if self._setup.on_step:
            self._setup.on_step()


def diagnose(evidence):
    """As many findings as FAKE_FINDINGS says: a severity each."""
    from whygrad.model import Finding, Severity, Site

    _maybe_fail("diagnose")
    site = Site("train.py", 1, "<module>", "import fakeframe")
    words = os.environ.get("FAKE_FINDINGS", "").split()
    return tuple(Finding("detached", "it is cut", site, "do not cut it", Severity(word)) for word in words)


assert "whygrad" in sys.modules
