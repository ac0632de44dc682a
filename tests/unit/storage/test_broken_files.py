"""Whatever a file says, it costs a bounded time and gives one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.storage.breaking import break_many, originals

from whygrad.cli.judge import main


def test_a_few_hundred_broken_files_give_one_sentence_each(tmp_path: Path) -> None:
    assert break_many(300, tmp_path) < 150


@pytest.mark.long
def test_ten_thousand_broken_files_give_one_sentence_each(tmp_path: Path) -> None:
    assert break_many(10_000, tmp_path, seed=1) < 5000


def refused(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    """The one sentence that ``whygrad judge`` says of it."""
    assert main([str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("whygrad: ")
    return said.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in the file system here")
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence = tmp_path / "run" / "evidence.wg"
    evidence.parent.mkdir()
    os.mkfifo(evidence)
    assert "is not a regular file" in refused(capsys, evidence.parent)
    assert "is not a regular file" in refused(capsys, evidence)
    assert "is not a regular file" in refused(capsys, Path("/dev/zero"))
    evidence.unlink()
    evidence.mkdir()
    assert "is not a regular file" in refused(capsys, evidence.parent)


def test_a_link_is_followed_within_its_folder_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text("of somebody else")
    run = tmp_path / "run"
    run.mkdir()
    (run / "evidence.wg").symlink_to("../secret")
    assert "leads out of its folder" in refused(capsys, run)
    (run / "evidence.wg").unlink()
    (run / "real.wg").write_bytes(originals()[0])
    (run / "evidence.wg").symlink_to("real.wg")
    assert main([str(run)]) == 1
    (run / "evidence.wg").unlink()
    (run / "evidence.wg").symlink_to("evidence.wg")
    capsys.readouterr()
    assert "evidence.wg" in refused(capsys, run)


def test_a_huge_file_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(tmp_path / "evidence.wg", "wb") as file:
        file.truncate(10 << 40)  # nothing of it is on the disk
    assert "is larger than 16 MB" in refused(capsys, tmp_path)


def test_a_folder_without_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no evidence.wg in" in refused(capsys, tmp_path)
    assert "there is no folder" in refused(capsys, tmp_path / "nowhere")
