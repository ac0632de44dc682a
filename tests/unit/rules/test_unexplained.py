"""The words for what was measured and is not understood."""

from whygrad.model import Site
from whygrad.rules.unexplained.unexplained import Fate


def test_zeros_say_since_when_where_it_was_alive_and_what_was_not_seen(said):
    finding = said(
        "unexplained", looked=6, alive="critic.0.weight", suspects=("`clamp` at line 4",), unseen=True
    )
    assert finding.title == "actor gets a gradient of exactly zero, in every update that was looked at"
    assert (
        "looked at in 6 updates. The last place where it is alive, coming from the loss, is critic.0"
        in finding.why
    )
    assert "On the way there is `clamp` at line 4. A part of the way was not seen." in finding.why
    assert said("unexplained", since=120).title.endswith("exactly zero, since update 120")


def test_a_backward_that_is_missing(said):
    step = Site("/home/me/train.py", 9)
    finding = said("unexplained", fate=Fate.UNCOMPUTED, updates=50, optimizer="opt", step=step, site=step)
    assert finding.title == "actor gets no gradient: nothing is differentiated before a step"
    assert finding.why.startswith("opt made 50 steps without any gradient: no `backward`")
    assert finding.fix == "differentiate the loss before `step()` (line 9)"


def test_no_gradient_and_no_motion(said):
    assert said("unexplained", fate=Fate.ABSENT).title == "actor gets no gradient, and no rule knows why"
    assert said("unexplained", fate=Fate.UNMOVED).title == "actor does not move, though its gradient is alive"
