"""A finished run, made by hand: a script on disk and what was found in it."""

import linecache

import pytest

from whygrad.model import Finding, Mark, Note, Raised, Run, Site, Step, UpdateCount
from whygrad.reporters import places

SCRIPT = """\
import torch

def update(s):
    a = actor(s).detach()  # "keep the critic"
    q = critic(s, a)
    loss = -q.mean()
    loss.backward()
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The directory in which whygrad was started."""
    monkeypatch.setattr(places, "START", str(tmp_path))
    linecache.clearcache()
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


@pytest.fixture
def at(here):
    """A site of the script."""
    return lambda line, function="update": Site.read(str(here / "train.py"), line, function)


@pytest.fixture
def finding(at):
    """The actor is cut off."""
    return Finding(
        rule="detached",
        title="actor gets no gradient: cut by .detach()",
        site=at(4),
        fix="write `a = actor(s)`",
        network="actor",
        subjects=("actor.0.weight", "actor.0.bias"),
        chain=(
            Step("actor.0.weight"),
            Step("a = actor(s).detach()", at(4)),
            Step(".detach()", at(4), mark=Mark.CUT),
            Step("q = critic(s, a)", at(5)),
            Step("loss = -q.mean()", at(6)),
        ),
        why="`.detach()` drops the history.",
        avoid="`loss.requires_grad = True`",
        optimizer="actor_opt",
        first_update=1,
        updates=120,
    )


@pytest.fixture
def run(at, finding):
    """The run in which it was found."""
    return Run(
        script="train.py",
        argv=("--lr", "1e-3"),
        frameworks=("torch",),
        versions=(("python", "3.11.7"), ("torch", "2.13.0")),
        exit_code=1,
        exception=Raised("RuntimeError", "element 0 of tensors\nmore", at(7)),
        updates=(
            UpdateCount("actor_opt", 120, 8, ("actor",), at(6)),
            UpdateCount("critic_opt", 1200, 8, ("critic", "encoder"), at(5)),
        ),
        findings=(finding,),
        notes=(Note("no_grad is right here", at(5), "certificate"), Note("a thread was not seen")),
        seconds=1.5,
        stopped_early=False,
    )
