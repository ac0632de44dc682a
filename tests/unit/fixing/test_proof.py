"""Two runs, compared: what is a proof, and what is none."""

from dataclasses import replace

import pytest

pytest.importorskip("libcst")

from tests.unit.fixing.build import FILE, finding, run

from whygrad.fixing.proof import Lines, Outcome, prove
from whygrad.model import GradientMap, LossTerm, Note, Reached, Site

OLD = "a = net(s).detach()\nb = other(a)\n"
NEW = "a = net(s)\nb = other(a)\n"
CUT = finding("detached", OLD, "a =")
LINES = Lines({FILE: OLD.encode()}, {FILE: NEW.encode()})


def outcome(before, after, lines=LINES):
    return prove(CUT, before, after, lines).outcome


def test_gone_and_nothing_new_and_everybody_learns():
    assert outcome(run(CUT, learn=()), run()) is Outcome.PROVEN


def test_a_finding_that_is_still_there_is_no_proof():
    assert outcome(run(CUT), run(CUT)) is Outcome.FAILED


def test_a_finding_is_recognised_though_its_line_has_moved():
    lines = Lines({FILE: OLD.encode()}, {FILE: b"import copy\n" + OLD.encode()})
    moved = finding("detached", "import copy\n" + OLD, "a =")
    assert outcome(run(CUT), run(moved), lines) is Outcome.FAILED


def test_what_was_hidden_behind_it_is_no_proof_yet():
    hidden = finding("value-sign", NEW, "b =", network="other")
    proof = prove(CUT, run(CUT), run(hidden), LINES)
    assert proof.outcome is Outcome.ADVANCED and proof.new == (hidden,)


def test_another_finding_that_was_there_before_may_stay():
    other = finding("value-sign", OLD, "b =", network="other")
    assert outcome(run(CUT, other), run(other)) is Outcome.PROVEN


@pytest.mark.parametrize(
    "after",
    [
        None,
        run(learn=()),
        run(error="RuntimeError"),
        run(silent=("net",)),
        run(updates=()),
        run(blind="whygrad could not watch"),
        run(exit_code=3),
    ],
    ids=["no run", "does not learn", "raises", "silent", "no update", "blind", "exit code"],
)
def test_what_ends_worse_is_no_proof(after):
    assert outcome(run(CUT), after) is Outcome.FAILED


def test_a_program_that_broke_and_no_longer_does():
    proof = prove(CUT, run(CUT, learn=(), error="RuntimeError"), run(), LINES)
    assert proof.outcome is Outcome.PROVEN
    assert "it no longer ends with RuntimeError" in proof.shown


def test_a_target_that_is_only_doubted_is_not_cured():
    never = finding("target-never-synced", OLD, "b =", network="target")
    doubted = run(notes=(Note("the sync was not reached", kind="doubt"),))
    assert prove(never, run(never), doubted, LINES).outcome is Outcome.DOUBTED
    assert prove(CUT, run(CUT), doubted, LINES).outcome is Outcome.PROVEN


def test_a_loss_that_trains_one_network_less_is_no_proof():
    def maps(*networks):
        cells = tuple(Reached(name, True, applied=("opt",)) for name in networks)
        return (GradientMap("opt", Site(FILE, 2), (LossTerm("loss", None, cells),)),)

    before = run(CUT, learn=("net", "trunk"), gradient_map=maps("net", "trunk"))
    after = run(learn=("net", "trunk"), gradient_map=maps("net"))
    [why] = prove(CUT, before, after, LINES).against
    assert why == "trunk does not learn from the loss at line 2 any more"


def test_to_leave_out_who_suffers_is_no_cure():
    before, after = run(CUT, learn=("other",)), run(learn=("other",))
    [why] = prove(CUT, before, after, LINES).against
    assert why == "net was not seen to learn"


def test_a_term_may_leave_the_network_that_it_was_written_for_by_mistake():
    """Two critics, and both terms ask the first: the second term goes to the second one."""

    def trains(*networks):
        cells = [tuple(Reached(name, True, applied=("opt",)) for name in found) for found in networks]
        terms = [LossTerm("loss", Site(FILE, line), c) for line, c in enumerate(cells, 1)]
        return {"gradient_map": (GradientMap("opt", Site(FILE, 9), tuple(terms)),)}

    text = "a = q1(s)\nb = q1(s)\n"
    lost = finding("loss-independent", text, "b = ", network="q2")
    before = run(lost, learn=("q1",), silent=("q2",), **trains(("q1",), ("q1",)))
    after = run(learn=("q1", "q2"), **trains(("q1",), ("q2",)))
    assert prove(lost, before, after, Lines({}, {})).outcome is Outcome.PROVEN
    detached = replace(lost, rule="detached")
    assert prove(detached, before, after, Lines({}, {})).outcome is Outcome.FAILED
