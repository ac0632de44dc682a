"""``whygrad judge``: what a run would have said, from its evidence alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.forked("torch")

SCRIPT = """
import torch
from torch import nn

actor, critic = nn.Linear(3, 2), nn.Linear(2, 1)
optimizer = torch.optim.Adam(actor.parameters())
for _ in range(6):
    action = actor(torch.randn(4, 3)).detach()
    loss = -critic(action).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MENDED = SCRIPT.replace(".detach()", "")


@pytest.fixture
def sick(lab):
    """A run in ``sick`` that found something; gives what was printed."""
    lab.write(SCRIPT)
    return lab.whygrad("run", "--out", "sick", "train.py").stderr


@pytest.mark.torch
def test_it_prints_what_run_has_printed_whatever_became_of_the_script(lab, sick):
    # GIVEN a run, and a script that was mended since
    lab.write(MENDED)
    # WHEN it is judged again
    done = lab.whygrad("judge", "sick", "--json", "again.json")
    # THEN it says the same, of the lines that ran
    assert done.code == 1 and done.stderr == ""
    assert done.stdout + "whygrad: the report is in sick/report.json\n" == sick
    assert (lab.folder / "again.json").read_text() == (lab.folder / "sick" / "report.json").read_text()


@pytest.mark.torch
def test_the_file_alone_is_enough_on_another_machine(lab, sick):
    # GIVEN nothing but the file, under another name, elsewhere, and a python without any framework
    (lab.folder / "else").mkdir()
    (lab.folder / "sick" / "evidence.wg").rename(lab.folder / "else" / "bug.wg")
    (lab.folder / "train.py").unlink()
    code = """
import sys
for name in ("torch", "tensorflow", "numpy"):
    sys.modules[name] = None
from whygrad.cli.main import main
sys.exit(main(["judge", "bug.wg"]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=lab.folder / "else", env=lab.env, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert done.stdout + "whygrad: the report is in sick/report.json\n" == sick


@pytest.mark.long
@pytest.mark.torch
def test_other_forms_of_the_report(lab, sick):
    (lab.folder / "train.py").unlink()
    found = json.loads(lab.whygrad("judge", "sick", "--sarif", "-").stdout)["runs"][0]["results"]
    (place,) = found[0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "train.py"
    assert place["physicalLocation"]["region"]["snippet"]["text"].strip().startswith("action = actor")
    assert ":" in found[0]["partialFingerprints"]["primaryLocationLineHash"]
    assert "::error file=train.py,line=7" in lab.whygrad("judge", "sick", "--github").stdout
    both = lab.whygrad("judge", "sick", "--sarif", "-", "--json", "-")
    assert both.code == 2 and "cannot both be printed" in both.stderr


@pytest.mark.torch
def test_reports_and_comparisons_come_from_the_evidence(lab, sick):
    # GIVEN a run whose report is gone, and whose script was changed
    (lab.folder / "sick" / "report.json").unlink()
    lab.write(MENDED)
    assert lab.whygrad("run", "--quiet", "--out", "mended", "train.py").code == 0
    # THEN the page quotes what ran
    assert lab.whygrad("report", "sick").code == 0
    assert "detach()" in (lab.folder / "sick" / "report.html").read_text()
    compared = lab.whygrad("compare", "sick", "mended")
    assert compared.code == 0 and "detached" in compared.stdout


@pytest.mark.torch
def test_without_source_the_report_stays_and_the_evidence_says_nothing_of_it(lab):
    lab.write(SCRIPT)
    lab.whygrad("run", "--no-source", "--out", "sick", "train.py")
    done = lab.whygrad("judge", "sick")
    assert done.code == 1 and "error[detached] actor gets no gradient" in done.stdout
    assert "actor(torch.randn" not in done.stdout
    # what is made of the directory has the lines of the report
    assert lab.whygrad("report", "sick").code == 0
    assert "actor(torch.randn" in (lab.folder / "sick" / "report.html").read_text()


@pytest.mark.long
@pytest.mark.torch
def test_a_run_of_an_older_version_has_its_report_only(lab, sick):
    (lab.folder / "sick" / "evidence.wg").unlink()
    assert lab.whygrad("report", "sick").code == 0
    done = lab.whygrad("judge", "sick")
    assert (done.code, done.stdout) == (2, "")
    assert (
        done.stderr
        == "whygrad: there is no evidence.wg in sick: nothing was recorded that can be judged again\n"
    )


@pytest.mark.long
@pytest.mark.torch
def test_evidence_of_a_version_to_come_leaves_the_report(lab, sick):
    (lab.folder / "sick" / "evidence.wg").write_bytes(b"whygrad evidence 9\n")
    assert lab.whygrad("report", "sick").code == 0
    done = lab.whygrad("judge", "sick")
    assert done.code == 2 and "has format '9', and this version of whygrad reads format 2" in done.stderr


@pytest.mark.torch
def test_a_module_of_the_script_that_is_called_as_one_of_ours(lab):
    lab.write("print('this one')\nimport msgspec\n" + SCRIPT)
    lab.write("print('and that one')\n", "msgspec.py")
    done = lab.whygrad("run", "--out", "sick", "train.py")
    assert done.code == 0 and done.stdout == "this one\nand that one\n"
    assert "evidence" not in done.stderr
    (lab.folder / "msgspec.py").unlink()
    assert lab.whygrad("judge", "sick").code == 1


def test_a_run_of_nothing_leaves_nothing_of_an_earlier_one(lab):
    lab.write("print('hello')\n")
    (lab.folder / "out").mkdir()
    (lab.folder / "out" / "evidence.wg").write_text("of an earlier run")
    assert lab.whygrad("run", "--out", "out", "train.py").code == 0
    assert lab.whygrad("judge", "out").code == 0
