"""How the labelled scripts are run: one of them by name, and all in forks of one process."""

from __future__ import annotations

import pytest
from scripts import case
from tests.labelled import Forks

ACTOR = "tests/cases/torch/bad/detached_ddpg_actor.py"


@pytest.mark.parametrize(
    "name, found",
    [
        ("detached_ddpg_actor", [ACTOR]),  # the bad one of the twins
        ("torch/bad/detached_ddpg_actor", [ACTOR]),
        ("good/detached_ddpg_actor.py", [ACTOR.replace("bad", "good")]),
        ("tached_ddpg_acto", [ACTOR]),
        ("a2c_dataclass", ["tests/corpus/torch/a2c_dataclass.py"]),
        ("nothing like it", []),
    ],
)
def test_a_part_of_the_path_is_enough(name, found):
    assert sorted(case.named(name)) == sorted(found)


def test_a_name_that_means_several_or_none_is_asked_back(capsys):
    assert case.main("detached_") == 2
    assert ACTOR in capsys.readouterr().err
    assert case.main("") == 2
    assert "NAME=" in capsys.readouterr().err


@pytest.mark.torch
def test_as_labelled_or_not(capfd, monkeypatch):
    assert case.main("detached_ddpg_actor") == 0
    out, err = capfd.readouterr()
    assert out.endswith("as labelled\n") and "NOT" not in out and "labelled: detached at line 43" in out
    assert "error[detached] agent.actor gets no gradient" in err
    monkeypatch.setattr(case, "labels", lambda: {ACTOR: {**wrong, "rule": "frozen"}})
    wrong = {"healthy": False, "rule_alt": [], "line": [43], "line_alt": [], "exit_code": 0}
    assert case.main("detached_ddpg_actor") == 1
    assert "NOT AS LABELLED: expected frozen at [43], got [('detached', 43)]" in capfd.readouterr().out


@pytest.mark.long
@pytest.mark.torch
def test_a_script_that_takes_the_process_with_it_fails_alone(tmp_path):
    (tmp_path / "bad.py").write_text("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n")
    (tmp_path / "good.py").write_text("import sys, torch\nprint(sys.stdin.read(), 'done')\n")
    forks = Forks(tmp_path)
    with pytest.raises(pytest.fail.Exception, match=r"bad\.py took more than"):
        forks.run("torch", tmp_path / "bad.py")
    code, report, output = forks.run("torch", tmp_path / "good.py")
    forks.close()
    assert (code, report["exit_code"], output) == (0, 0, " done\n")
