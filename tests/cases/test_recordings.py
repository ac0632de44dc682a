"""A script is judged from its recording as long as nothing has changed that records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import recordings
from tests.unit.storage.samples import actor_critic
from whygrad.model import source
from whygrad.storage.packing import pack


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script in a place of its own, with the run directory of its run."""
    monkeypatch.setattr(recordings, "ROOT", tmp_path)
    monkeypatch.setattr(recordings, "CACHE", tmp_path / "cache")
    (tmp_path / "run").mkdir()
    recording = actor_critic()
    with source.reading(source.Texts(recording.sources)):
        (tmp_path / "run" / "evidence.wg").write_bytes(pack(recording))
    script = tmp_path / "train.py"
    script.write_text(recording.sources["train.py"])
    return script


def live(script: Path) -> recordings.Result:
    """What running it gave."""
    return 0, recordings._judged(script.parent / "run" / "evidence.wg"), "hello"


def test_what_was_recorded_is_judged_and_not_run(script: Path) -> None:
    assert recordings.find("torch", script) is None
    assert recordings.keep("torch", script, live(script), script.parent / "run") == []
    assert recordings.find("torch", script) == live(script)


def test_a_change_of_what_records_is_a_reason_to_run(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recordings.keep("torch", script, live(script), script.parent / "run")
    with monkeypatch.context() as other:
        other.setattr(recordings, "_of_us", lambda framework: "another backend, or another framework")
        assert recordings.find("torch", script) is None
    assert recordings.find("torch", script) is not None
    script.write_text(script.read_text() + "more = 1\n")
    assert recordings.find("torch", script) is None


def test_a_recording_that_cannot_be_read_is_a_reason_to_run(script: Path) -> None:
    recordings.keep("torch", script, live(script), script.parent / "run")
    (evidence,) = recordings.CACHE.glob("*.wg")
    evidence.write_bytes(evidence.read_bytes()[:100])
    assert recordings.find("torch", script) is None


def test_what_is_judged_differently_from_disk_is_told(script: Path) -> None:
    code, report, output = live(script)
    other = json.loads(json.dumps(report))
    other["findings"][0]["fix"] = "write something else"
    (told,) = recordings.keep("torch", script, (code, other, output), script.parent / "run")
    assert told.startswith("judged from disk: ")
    (script.parent / "run" / "evidence.wg").unlink()
    assert recordings.keep("torch", script, (code, report, output), script.parent / "run") == ["nothing was recorded"]
    assert recordings.find("torch", script) is None
