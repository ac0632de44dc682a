"""The command line, with the fake framework in the table and a diagnosis that says what a test wants."""

import os
import sys
import types

from whygrad.diagnosis import Picture
from whygrad.model.frameworks import FRAMEWORKS, Framework
from whygrad.running import limits, snapshots


def diagnose(evidence):
    import fakebackend

    return fakebackend.diagnose(evidence)


FRAMEWORKS["fakeframe"] = Framework("fakeframe", backend="fakebackend:FakeBackend")
snapshots.USUAL = snapshots.Pace(first=float(os.environ.get("FAKE_FIRST", snapshots.USUAL.first)))
limits.GRACE = float(os.environ.get("FAKE_GRACE", limits.GRACE))
stand_in = sys.modules["whygrad.diagnosis"] = types.ModuleType("whygrad.diagnosis")
stand_in.diagnose, stand_in.Picture, stand_in.picture = diagnose, Picture, lambda evidence, healthy: Picture()

from whygrad.cli.main import main  # noqa: E402

sys.exit(main())
