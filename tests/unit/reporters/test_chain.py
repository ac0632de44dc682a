"""Long chains become short, and keep what matters."""

from whygrad.model import Mark, Site, Step
from whygrad.reporters.chain import links


def test_ends_and_the_cut_stay():
    steps = [Step(f"s{n}", mark=Mark.CUT if n == 20 else Mark.NONE) for n in range(40)]
    rows = links(steps)
    assert len(rows) <= 11
    assert [rows[0].what, rows[-1].what] == ["s0", "s39"]
    assert "s20" in [row.what for row in rows if row.mark]
    assert sum(row.hidden or 1 for row in rows) == 40


def test_gradient_ends_at_the_cut():
    rows = links([Step("w"), Step("x"), Step("cut", mark=Mark.CUT), Step("loss")])
    assert [row.starved for row in rows] == [True, True, False, False]
    assert not any(row.starved for row in links([Step("w"), Step("loss")]))
    assert not any(
        row.starved for row in links([Step("w"), Step("gets one"), Step("not held", mark=Mark.CUT)])
    )
    assert links([Step("w"), Step("frozen", mark=Mark.CUT)])[0].starved


def test_a_loop_is_told_once():
    line = Site("t.py", 3, "f", "h = cell(x, h)")
    assert len(links([Step("w"), *[Step("h = cell(x, h)", line)] * 50, Step("loss")])) == 3


def test_a_bare_operation_becomes_the_users_line():
    line = Site("t.py", 3, "forward", "return self.net(x)  # features")
    assert links([Step("linear", line, mark=Mark.CUT)])[0].what == "return self.net(x)"
    assert links([Step("argmax", Site("t.py", 4, "f", "a = q.argmax(1)"), mark=Mark.CUT)])[0].what == "argmax"


def test_the_cut_stands_for_its_line():
    line = Site("t.py", 3, "f", "u = dist.sample()")
    rows = links(
        [Step("w"), Step("u = dist.sample()", line), Step("Normal.sample", line, mark=Mark.CUT), Step("loss")]
    )
    assert [row.what for row in rows] == ["w", "Normal.sample", "loss"]
