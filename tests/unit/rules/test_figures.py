"""The words for gradients that arrive, and training suffers."""

import pytest
from tests.unit.rules.conftest import a_cause

from whygrad.model import Parameter, Site
from whygrad.rules.figures.zero_gradient import Zeroed
from whygrad.rules.table import RULES


def test_vanishing_shows_both_sizes(said, parameters):
    worst = parameters()[0]
    finding = said("vanishing", worst=worst, size=2.34e-11, top=0.5)
    assert finding.title == "the gradient of actor vanishes: 2.3e-11, in other layers 5.0e-01"
    assert "`actor.net.0.weight` is 2.3e-11" in finding.why
    assert "Below 1e-8 even Adam" in finding.why


def test_exploding_for_good_and_in_one_update(said):
    grown = said("exploding", grown=True, early=0.1, late=1e6, first_update=640)
    assert grown.title == "the gradient of actor explodes: 1.0e+06, at first 1.0e-01"
    assert grown.why == "Its largest element has grown far beyond 10,000 times its size since update 640."
    spike = said("exploding", early=0.1, late=1e9)
    assert spike.title == "the gradient of actor spikes: 1.0e+09, usually about 1.0e-01"


def test_stalled_is_too_short_or_too_long(said, parameters):
    assert said("stalled", ratio=3e-12).title == "actor stands still: a step is 3.0e-12 of the weights"
    both = (*parameters("actor"), *parameters("critic"))
    over = said("stalled", subjects=both, over=True, ratio=7.25)
    assert over.title == "each step throws actor and critic away: 7.2 times the length of their weights"


def test_oscillating_tells_the_course_of_the_loss(said):
    finding = said("oscillating", turn=-0.987, first=1.0, last=1.2345)
    assert "(cosine -0.99 or less), and the loss goes from 1 to 1.23" in finding.why
    assert "(cosine -0.80 or less), and the loss does not fall" in said("oscillating").why


@pytest.mark.parametrize(
    ("how", "because"),
    [
        (Zeroed.RELU, "all its ReLU units are dead"),
        (Zeroed.TANH, "its tanh is saturated"),
        (Zeroed.SIGMOID, "its sigmoid is saturated"),
        (Zeroed.SOFTMAX, "a softmax over one element"),
        (Zeroed.FACTOR, "it is multiplied with zero"),
        (Zeroed.WEIGHTS, "the weights behind it are all zero"),
        (Zeroed.DIFFERENCE, "prediction and target are the same"),
    ],
)
def test_zero_gradient_says_why(said, how, because):
    finding = said("zero-gradient", how=how)
    assert finding.title == f"actor gets a gradient of exactly zero: {because}"


def test_zero_gradient_of_an_advantage_over_one_sample(said):
    multiplied = Site("/home/me/train.py", 48)
    finding = said("zero-gradient", how=Zeroed.FACTOR, centred=True, multiplied=multiplied)
    assert finding.title.endswith("the advantage is normalised over one sample")
    assert "the loss (line 48) is multiplied with it" in finding.why


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        ({"op": "log"}, "the loss is nan, made by log"),
        ({"entered": True}, "the loss is nan: it came in with the data"),
        ({"weight": Parameter(1, "actor.w", "actor")}, "the loss is nan: the weights are broken"),
        (
            {"gradient": True, "op": "sqrt"},
            "the gradient of actor is NaN or infinite, by the derivative of sqrt",
        ),
        ({"gradient": True, "recorded": False}, "the gradient of actor is not finite"),
    ],
)
def test_non_finite(said, facts, title):
    assert said("non-finite", value=float("nan"), **facts).title == title


def test_non_finite_by_the_deviation_of_one_sample(said):
    code = "adv = (adv - adv.mean()) / (adv.std() + 1e-8)"
    assert "`std()` of one sample" in said("non-finite", code, single=True).title
    assert "somewhere in this computation" in said("non-finite", code).title


@pytest.mark.parametrize(
    ("framework", "order"),
    [
        ("torch", "set `TORCH_COMPILE_DISABLE=1`"),
        ("tensorflow", "write `tf.config.run_functions_eagerly(True)`"),
    ],
)
def test_compiled_code_has_to_be_run_eagerly_once(said, framework, order):
    finding = said("non-finite", framework=framework, compiled=True, value=float("inf"), first_update=3)
    assert finding.why.startswith("Seen at update 3. The update is compiled")
    assert finding.fix.startswith(order) and finding.fix.endswith("it then names the operation")


@pytest.mark.parametrize("slug", ["vanishing", "exploding", "stalled", "oscillating"])
def test_what_is_not_known_is_not_shown(slug):
    finding = RULES[slug].phrase(a_cause(slug))
    assert "None" not in finding.title + finding.why and "?" not in finding.why
