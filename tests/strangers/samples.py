"""What strangers send, whole: a run directory with everything in it, event files, a model, vectors."""

from __future__ import annotations

import shutil
from array import array
from pathlib import Path

from tests.unit.storage.samples import actor_critic

from whygrad.model import Series, source
from whygrad.model.fix import Fixed, Treated
from whygrad.model.patch import Patch, Trained
from whygrad.reporters import fixes, json_report
from whygrad.running.concluding import conclude
from whygrad.storage.packing import pack
from whygrad.summaries import history, wire

SMALL = Path(__file__).parents[1] / "data" / "small"
EVENTS = "events.out.tfevents.1.host.whygrad"


def run_directory(folder: Path) -> None:
    """Evidence, report, proven changes, history and events of one run."""
    folder.mkdir(parents=True)
    recording = actor_critic()
    with source.reading(source.Texts(recording.sources)):
        run = conclude(recording.observed, recording.about)
        (folder / "evidence.wg").write_bytes(pack(recording))
    (folder / "report.json").write_text(json_report.render(run))
    (folder / "watch.history").write_bytes(history.packed(_series()))
    (folder / EVENTS).write_bytes(events())
    patch = Patch(
        "without it", "--- a\n+++ b\n", ("it learns",), (Trained("mean", 3, "actor", "0 %", "9 %"),)
    )
    fixed = tuple(Fixed(finding, (patch,)) for finding in run.findings)
    told = Treated(script="train.py", fixes=fixed)
    (folder / "fixes.json").write_text(fixes.as_json(told))


def run_of_before(folder: Path) -> None:
    """A run of an older version: its report, and no evidence."""
    run_directory(folder)
    (folder / "evidence.wg").unlink()


def runs_of_before(folder: Path) -> None:
    """Two of them."""
    for name in ("one", "two"):
        run_of_before(folder / name)


def _series() -> tuple[Series, ...]:
    numbers = array("f", [1.0, 0.5, 0.25])
    names = (("actor_opt", "actor.weight", "gradients/norm"), ("critic_opt", "", "loss"))
    return tuple(Series(*name, (1, 2, 3), numbers, numbers, numbers) for name in names)


def events() -> bytes:
    """Numbers, a histogram and a text."""
    record, places = wire.scalars(("loss", "actor/gradients/norm"))
    found = [wire.sealed(bytearray(record), 1.0, step) for step in range(24)]
    assert len(places) == 2
    picture = wire.histogram(b"actor/gradients", (0.0, 1.0, -1.0, 1.0, 2.0), [1] * 512)
    found.append(wire.sealed(wire.event(picture), 1.0, 3))
    found.append(wire.sealed(wire.event(wire.text("notes", "# hello")), 1.0, 4))
    return b"".join(found)


def model(folder: Path) -> None:
    """A model of TensorFlow.js."""
    shutil.copytree(SMALL / "online", folder)


def vectors(folder: Path) -> None:
    """A folder of vectors."""
    folder.mkdir(parents=True)
    for name in ("online", "target"):
        shutil.copytree(SMALL / name, folder / name)
    for name in ("batch.json", "vectors.json"):
        shutil.copy(SMALL / name, folder / name)


def runs(folder: Path) -> None:
    """A folder with two runs."""
    for name in ("one", "two"):
        run_directory(folder / name)
