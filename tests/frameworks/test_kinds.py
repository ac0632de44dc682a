"""What operations of torch and TensorFlow are called, and which kind each of them is."""

import pytest
import torch
from torch import nn

from whygrad.frameworks.tensorflow.kinds import KINDS as TENSORFLOW
from whygrad.frameworks.torch.kinds import KINDS as TORCH
from whygrad.model import Kind


def of_the_loss(recorded, net, loss):
    """What was recorded of one update with this loss."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with recorded() as seen:
        loss(net(torch.ones(4, 3))).sum().backward()
        optimizer.step()
    return seen


@pytest.mark.parametrize(
    ("name", "loss", "kind"),
    [
        ("__rsub__", lambda q: 1 - q, Kind.SUBTRACT),
        ("__rdiv__", lambda q: 1 / q, Kind.DIVIDE),
        ("__rpow__", lambda q: 2**q, Kind.POWER),
        ("reciprocal", lambda q: q.reciprocal(), Kind.DIVIDE),
    ],
)
def test_a_number_before_the_input_is_said(recorded, net, name, loss, kind):
    op = of_the_loss(recorded, net, loss).one(name)
    assert (op.kind, op.swapped, len(op.inputs)) == (kind, True, 1)


@pytest.mark.parametrize("loss", [lambda q: q - 1, lambda q: 1 + q, lambda q: q / 2, lambda q: 2 * q])
def test_other_arithmetic_is_not_swapped(recorded, net, loss):
    assert not any(op.swapped for op in of_the_loss(recorded, net, loss).values().flow.ops.values())


def test_inputs_stand_in_the_order_of_the_formula(recorded, net):
    # GIVEN exp(q) - tanh(q), written in reverse
    seen = of_the_loss(recorded, net, lambda q: torch.rsub(q.tanh(), q.exp()))
    op = seen.one("rsub")
    assert (op.kind, op.swapped, seen.inputs(op)) == (Kind.SUBTRACT, False, ["exp", "tanh"])


@pytest.mark.parametrize(
    ("name", "loss", "kind"),
    [
        ("max", lambda q: torch.max(q, 2 * q), Kind.LARGER),
        ("max", lambda q: q.max(dim=1).values, Kind.CHOOSE),
        ("min", lambda q: q.min(), Kind.CHOOSE),
        ("clamp", lambda q: q.clamp(0, 1), Kind.BOUND),
        ("gather", lambda q: q.gather(1, torch.zeros(4, 1, dtype=torch.long)), Kind.CHOOSE),
        ("__getitem__", lambda q: q[:, 0], Kind.PICK),
        ("add_", lambda q: q.mul(2).add_(1), Kind.ADD),
        ("gru_cell", lambda q: nn.GRUCell(2, 2)(q), Kind.OTHER),
    ],
)
def test_what_it_means_depends_on_what_goes_in(recorded, net, name, loss, kind):
    assert {op.kind for op in of_the_loss(recorded, net, loss).named(name)} == {kind}


def test_what_torch_does_not_say_is_not_in_its_table():
    places = (torch, torch.Tensor, nn.functional, torch.linalg)
    forms = ("{}", "{}_", "__{}__")
    said = {n for n in TORCH.names for f in forms for place in places if hasattr(place, f.format(n))}
    assert TORCH.names.keys() - said == {"unseen"}


@pytest.mark.tensorflow
def test_what_tensorflow_does_not_say_is_not_in_its_table():
    tf = pytest.importorskip("tensorflow")
    from whygrad.frameworks.tensorflow.vocabulary import name_of, spoken

    said = {name_of(op_type) for op_type in dir(tf.raw_ops)}
    said |= {spoken(name, (1.0, None))[0] for name in ("sub", "div", "pow")}  # 1 - x
    said |= {"predict", "predict_on_batch", "numpy", "array", "constant", "assign", "clip"}  # our own
    assert TENSORFLOW.names.keys() - said == set()


#: Said of recordings of earlier versions only: these did not tell the smaller from the larger.
EARLIER = (Kind.EXTREME,)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.OTHER, *EARLIER)])
def test_every_kind_is_said_by_somebody(kind):
    assert kind in {*TORCH.names.values(), *TENSORFLOW.names.values()}
