"""Heads that no loss asks for: spare ones, and forgotten ones."""

import pytest

FORWARD = """\
class Net(nn.Module):
    def __init__(self):
        self.body, self.value, self.policy = layers()
    def forward(self, x):
        h = self.body(x)
        value = self.value(h)
        return self.policy(h){}
"""


@pytest.fixture
def net(run, tmp_path):
    """``made(returned, shape)``: the three parts of a network in whose source ``forward`` ends like this."""

    def made(returned=", value", shape=(1, 8)):
        run.file = str(tmp_path / "net.py")
        (tmp_path / "net.py").write_text(FORWARD.format(returned))
        shapes = {"body": (8, 4), "value": shape, "policy": (2, 8)}
        return [run.network("net", (f"{n}.weight",), line=3, shape=s) for n, s in shapes.items()]

    return made


def train(run, parts, **facts):
    body, value, policy = parts
    optimizer = run.optimizer("opt", body, value, policy)
    for _ in range(3):
        loss = run.op("mean", run.call(policy, run.call(body)), line=10)
        more = facts["more"](run, body, value) if "more" in facts else {}
        run.update(optimizer, run.backward(loss, line=11, **more))


def test_a_spare_head_is_named_in_a_note(run, only, net):
    train(run, net())
    cause = only(run)
    assert (cause.rule, str(cause.severity)) == ("loss-independent", "note")
    assert [p.name for p in cause.subjects] == ["net.value.weight"]


def test_a_head_whose_output_is_lost_in_forward(run, only, net):
    train(run, net(returned=""))
    assert str(only(run).severity) == "error"


def test_a_head_whose_twin_learns(run, only, net):
    train(run, net(shape=(2, 8)))
    assert str(only(run).severity) == "error"


def left_out(run, body, value):
    """Its loss is there, and nobody differentiates it."""
    return {"unused": (run.op("mean", run.call(value, run.call(body)), line=9),)}


def printed(run, body, value):
    """Its output became a number: a baseline, perhaps."""
    number = run.op("item", run.call(value, run.call(body)), line=9, carries=False, left=True)
    return {"exits": (number,)}


@pytest.mark.parametrize("more", [left_out, printed])
def test_a_head_that_somebody_asks_for(run, only, net, more):
    train(run, net(), more=more)
    assert str(only(run).severity) == "error"


def test_the_words_name_the_head(said, parameters):
    heads = parameters("policy", ("state.weight", "state.bias", "value.weight", "value.bias"))
    finding = said("loss-independent", "loss = f(x)", heads, kind="head", whole="")
    assert finding.title == "policy.state and policy.value do not learn: what they give is not used"
    assert "The rest of policy learns" in finding.why
