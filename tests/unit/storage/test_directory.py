"""The directory of a run: named once, made late, written as a whole."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from whygrad.storage.directory import RunDirectory, write_atomically


def test_it_is_made_when_something_is_written(tmp_path: Path) -> None:
    directory = RunDirectory("train", base=tmp_path)
    assert list(tmp_path.iterdir()) == [] and not directory.asked
    written = directory.write("report.json", "{}")
    assert written.read_bytes() == b"{}\n"
    assert written.parent == directory.path() and written.parent.parent == tmp_path / "runs"
    assert written.parent.name.startswith("train-")


def test_runs_that_start_at_once_do_not_share_one(tmp_path: Path) -> None:
    many = [RunDirectory("train", base=tmp_path) for _ in range(5)]
    assert len({directory.path() for directory in many}) == 5


def test_threads_of_one_run_share_it(tmp_path: Path) -> None:
    directory, found = RunDirectory("train", base=tmp_path), []
    threads = [threading.Thread(target=lambda: found.append(directory.path())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_where_somebody_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    directory = RunDirectory("train", Path("here") / "deep")
    monkeypatch.chdir("/")  # as a program may do
    assert directory.asked and directory.path() == tmp_path / "here" / "deep"
    directory.write("a", b"1")
    directory.remove("a")
    directory.remove("a")
    assert list(directory.path().iterdir()) == []


def test_a_program_may_remove_the_directory_that_it_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert RunDirectory("watching", tmp_path / "run").path() == tmp_path / "run"


def failing(*_: object) -> None:
    raise OSError("no room")


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write_atomically(path, "old\n\n")
    assert path.read_text() == "old\n"
    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="no room"):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old\n" and os.listdir(tmp_path) == ["report.json"]
    write_atomically(path, '"\ud800"')
    assert json.loads(path.read_text()) == "\ud800"
