"""What cannot be written is not said to be written."""

from __future__ import annotations

from pathlib import Path

from whygrad.model import Run, UpdateCount
from whygrad.reporters import watched
from whygrad.running.summaries import Summaries
from whygrad.summaries.schedule import Schedule


def test_a_folder_that_cannot_be_made_has_no_summaries(tmp_path: Path) -> None:
    # GIVEN summaries that were accepted, of a run whose folder cannot be made
    (tmp_path / "file").touch()

    def folder() -> Path:
        (tmp_path / "file" / "run").mkdir()
        return tmp_path

    summaries = Summaries(Schedule(every=1), folder)
    stream = summaries.watching.stream("opt", ["net.weight"])
    stream.written = 320
    summaries._events.text("notes", "anything", 1)

    # WHEN the run is over
    told = summaries.finish(None)

    # THEN nothing is said to be there
    run = Run("train.py", updates=(UpdateCount("opt", 320, 6),), watched=told)
    assert told.updates == 0 and told.trouble
    assert watched.sentence(run, "runs/x") == "whygrad: no update was summarized"


def test_a_disk_that_is_full_later_on_is_told_of(tmp_path: Path) -> None:
    summaries = Summaries(Schedule(every=1), lambda: tmp_path)
    stream = summaries.watching.stream("opt", ["net.weight"])
    stream.written = 320
    summaries._events.text("notes", "anything", 1)
    summaries._events._writer.flush()
    summaries._events._writer.trouble = "OSError: No space left on device"
    run = Run("train.py", updates=(UpdateCount("opt", 320, 6),), watched=summaries.finish(None))
    said = watched.sentence(run, "runs/x")
    assert "no more than 320 were summarized" in said and "No space left" in said


def test_a_name_that_is_no_text_can_be_summarized(tmp_path: Path) -> None:
    summaries = Summaries(Schedule(every=1), lambda: tmp_path)
    summaries._events.text("caf\udce9", "# caf\udce9.py", 1)
    assert not summaries.finish(None).trouble
