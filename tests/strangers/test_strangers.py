"""Whatever a stranger sends: one sentence or a result, nothing outside touched, nothing that steers a terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.strangers import samples
from tests.strangers.fuzzing import STEERING, fuzz

from whygrad.cli.main import main
from whygrad.summaries.reading import curves, fields, varint
from whygrad.summaries.wire import framed


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list is as wide as its terminal, if there is one."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("many", [320, pytest.param(6000, marks=pytest.mark.long)])
def test_broken_files_of_every_kind(many: int, tmp_path: Path) -> None:
    tally = fuzz(many, tmp_path, seed=7)
    assert not tally.troubles and sum(tally.inputs.values()) == many
    assert {code for _, code in tally.codes} == {0, 1, 2}  # some can be read, some cannot


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory from somewhere."""
    samples.run_of_before(tmp_path / "runs" / "run")
    return tmp_path / "runs" / "run"


def test_a_report_is_written_into_the_run_and_nowhere_else(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "of-the-user"
    other.write_text("dear")
    (run / "report.html").symlink_to(other)
    (run / f".report.html.{os.getpid()}.part").symlink_to(other)
    assert main(["report", str(run)]) == 0
    assert other.read_text() == "dear"
    assert not (run / "report.html").is_symlink() and "<html" in (run / "report.html").read_text()


def test_a_model_is_written_into_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    other = tmp_path / "of-the-user"
    other.write_text("dear")
    samples.model(tmp_path / "model")
    (tmp_path / "out").mkdir()
    for name in ("model.json", "group1-shard1of1.bin", "model.py", "model.pt", "model.keras"):
        (tmp_path / "out" / name).symlink_to(other)
    for framework in ("tfjs", "torch"):
        assert main(["convert", str(tmp_path / "model"), "--to", framework, str(tmp_path / "out")]) == 0
    assert other.read_text() == "dear"


@pytest.mark.parametrize("name", ["report.json", "watch.history", samples.EVENTS, "fixes.json"])
@pytest.mark.parametrize("what", ["pipe", "endless", "huge", "outside"])
def test_what_is_no_plain_file_of_the_run_is_not_read(name: str, what: str, run: Path) -> None:
    (run / name).unlink()
    if what == "pipe":
        os.mkfifo(run / name)
    elif what == "huge":
        with open(run / name, "wb") as file:
            file.truncate(10 << 40)
    else:
        secret = run.parent / "secret"
        secret.write_text(json.dumps({"whygrad": "1", "format": 1, "script": "secret"}))
        (run / name).symlink_to("/dev/zero" if what == "endless" else secret)
    needed = name == "report.json"
    verbs = [["report", str(run)], ["compare", str(run), str(run)]]
    for verb in verbs:
        code = main(verb)
        assert code == 2 if needed else code in (0, 2)
    assert main(["runs", str(run.parent)]) == 0


def test_what_a_report_names_is_not_read(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = run.parent / "secret.py"
    secret.write_text("password = 'swordfish'\n" * 40)
    told = json.loads((run / "report.json").read_text())
    for finding in told["findings"]:
        finding["file"] = finding["site"]["file"] = str(secret)
        finding["site"]["code"] = ""
        for step in finding["chain"]:
            step["file"] = str(secret)
    (run / "report.json").write_text(json.dumps(told))
    assert main(["report", str(run)]) == 0
    assert main(["compare", str(run), str(run)]) == 0
    assert "swordfish" not in (run / "report.html").read_text() + "".join(capsys.readouterr())


def test_nothing_steers_the_terminal(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;owned\x07\x1b[2Jtrain.py\r\u202e"
    told = json.loads((run / "report.json").read_text())
    told["script"], told["argv"] = evil, [evil]
    told["findings"][0].update(title=evil, network=evil, rule=evil)
    (run / "report.json").write_text(json.dumps(told))
    odd = run.rename(run.parent / "\x1b[31mrun\udcff")
    for verb in (["runs", str(odd.parent)], ["report", str(odd)], ["compare", str(odd), str(odd)]):
        assert main(verb) == 0
        said = "".join(capsys.readouterr())
        assert not STEERING.search(said) and "train.py" in said + "train.py" * (verb[0] != "runs"), said


def test_deep_json_is_a_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "report.json").write_text('{"format": 1, "whygrad": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert main(["report", str(run)]) == 2
    assert "nested too deeply" in capsys.readouterr().err
    assert main(["runs", str(run.parent)]) == 0
    assert "cannot be read" in capsys.readouterr().out


def test_a_number_has_an_end(tmp_path: Path) -> None:
    endless = b"\x80" * 400_000 + b"\x01"
    assert varint(endless, 0) == (0, len(endless))
    assert list(fields(b"\x10" + endless)) == [(2, 0)]
    (tmp_path / "events.out.tfevents.1").write_bytes(framed(b"\x10" + endless) + samples.events())
    assert curves(tmp_path)["."]["loss"].steps == list(range(24))


def test_a_length_is_believed_as_far_as_the_file_goes(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(samples.events() + b"\xff\xff\xff\x7f" + bytes(12))
    assert curves(tmp_path)["."]["loss"].steps == list(range(24))
