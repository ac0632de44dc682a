"""Cures one after the other; programs are texts, and a run is what is found in them."""

import pytest

pytest.importorskip("libcst")

from tests.unit.fixing.build import FILE, finding, run

from whygrad.fixing.treatment import Treatment, Unsafe
from whygrad.fixing.trying import Tried
from whygrad.model import Mark
from whygrad.running.program import Program


def judged(text, reveals=False):
    """Every ``.detach()`` is a cut, every ``lp.item()`` leaves; with ``reveals``, one hides the other."""
    found = []
    if ".detach()" in text:
        found.append(finding("detached", text, ".detach()", (".detach()", Mark.CUT)))
    if "lp.item()" in text and not (found and reveals):
        found.append(finding("numpy-round-trip", text, "lp.item()", ("lp.item()", Mark.CUT), network="other"))
    return run(*found, learn=("net", "other"))


@pytest.fixture
def treat(tmp_path):
    def go(data, reveals=False):
        (tmp_path / FILE).write_bytes(data)

        def trial(files):
            text = files.get(FILE, data).decode("utf-8-sig").replace("\r\n", "\n")
            return Tried(judged(text, reveals))

        treatment = Treatment(Program(str(tmp_path / FILE)), tmp_path, trial)
        return treatment, treatment.run()

    return go


def test_several_findings_one_after_the_other(treat):
    _, told = treat(b"a = net(s).detach()\nloss = lp.item()\n")
    assert [fixed.finding.rule for fixed in told.fixes] == ["detached", "numpy-round-trip"]
    assert told.proven == 2 and told.exit_code == 1
    assert "-a = net(s).detach()\n" in told.diff and "+loss = lp\n" in told.diff


def test_what_one_finding_hid_is_cured_with_it(treat):
    _, told = treat(b"a = net(s).detach()\nloss = lp.item()\n", reveals=True)
    assert len(told.fixes) == 1
    assert "+a = net(s)\n" in told.diff and "+loss = lp\n" in told.diff


def test_applied_with_its_line_ends_and_nothing_else(treat, tmp_path):
    data = b"\xef\xbb\xbfa = net(s).detach()  # hm\r\nb = 1\r\n"
    (tmp_path / FILE).touch(mode=0o640)
    treatment, _ = treat(data)
    told = treatment.apply()
    assert (tmp_path / FILE).read_bytes() == data.replace(b".detach()", b"")
    assert told.applied and told.exit_code == 0
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == [FILE]


def test_a_file_that_has_changed_since_is_left_alone(treat, tmp_path):
    treatment, _ = treat(b"a = net(s).detach()\n")
    (tmp_path / FILE).write_bytes(b"something = 'else'\n")
    with pytest.raises(Unsafe, match="has changed since"):
        treatment.apply()
    assert (tmp_path / FILE).read_bytes() == b"something = 'else'\n"


def test_a_healthy_program_has_nothing_to_fix(treat):
    _, told = treat(b"a = net(s)\n")
    assert not told.fixes and not told.diff and told.exit_code == 0


def test_what_cannot_be_cured_says_what_was_tried(tmp_path):
    (tmp_path / FILE).write_text("a = net(s).detach()\n")
    stubborn = finding("detached", "a = net(s).detach()\n", "a =")
    treatment = Treatment(Program(FILE), tmp_path, lambda files: Tried(run(stubborn)))
    [fixed] = treatment.run().fixes
    assert not fixed.patches
    assert fixed.tried == (("leave out `.detach()`", "detached is still there: detached"),)
