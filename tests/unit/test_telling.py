"""What is told while a program trains: certain errors at once, likely ones when they stay, nothing twice."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from whygrad.cli.telling import Telling
from whygrad.model import Confidence, Finding, Run, Severity, Site


class Words:
    """Stands for the output: keeps what is said."""

    def __init__(self, folder: Path) -> None:
        self.said: list[str] = []
        self.kept = 0
        self.directory = type("Directory", (), {"place": folder})

    def say_now(self, text: str) -> None:
        self.said.append(text)

    def keep(self, run: Run, recording: object) -> None:
        self.kept += 1


@pytest.fixture
def words(tmp_path):
    return Words(tmp_path)


CERTAIN = Finding("detached", "actor gets\n no gradient", Site("train.py", 7, "f", "x"), fix="")
LIKELY = replace(CERTAIN, rule="frozen", confidence=Confidence.LIKELY)


def look(told: Telling, *findings: Finding) -> None:
    told.keep(Run("train.py", findings=findings), None)


def test_a_certain_error_is_told_once(words):
    told = Telling(words)
    look(told)
    look(told, CERTAIN)
    look(told, CERTAIN, replace(CERTAIN, severity=Severity.WARNING, rule="vanishing"))
    assert words.said == ["\nwhygrad: train.py:7: error[detached]: actor gets no gradient"]
    assert words.kept == 3


def test_a_likely_one_when_the_next_look_finds_it_too(words):
    told = Telling(words)
    look(told, LIKELY)
    assert words.said == []
    look(told, LIKELY)
    look(told, LIKELY)
    assert words.said == [
        "\nwhygrad: train.py:7: error[frozen]: actor gets no gradient (likely, not certain)"
    ]


def test_at_the_end_only(words):
    look(Telling(words, at_once=False), CERTAIN)
    assert words.said == []


def test_a_command_gets_the_first_error_and_no_other(words, tmp_path):
    python = f"{sys.executable} -c \"import sys; open('found', 'a').write(sys.stdin.read())\""
    told = Telling(words, at_once=False, command=f"cd {tmp_path} && {python}")
    look(told, CERTAIN)
    told.end(Run("train.py", findings=(LIKELY,)))
    found = json.loads((tmp_path / "found").read_text())
    assert (found["rule"], found["script"], found["run"]) == ("detached", "train.py", str(tmp_path))


def test_a_command_that_was_not_due_before_the_end(words, tmp_path):
    told = Telling(words, command=f"cd {tmp_path} && cat > found")
    look(told, LIKELY)
    told.end(Run("train.py", findings=(LIKELY,)))
    assert json.loads((tmp_path / "found").read_text())["rule"] == "frozen"
    Telling(words, command=f"touch {tmp_path}/healthy").end(Run("train.py"))
    assert not (tmp_path / "healthy").exists()


def test_a_command_that_does_not_read(words):
    told = Telling(words, command="exit 3")
    look(told, replace(CERTAIN, why="x" * 1_000_000))
    told.end(Run("train.py", findings=(CERTAIN,)))
