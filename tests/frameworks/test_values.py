"""How values are followed: versions, copies, numbers, arrays."""

import numpy
import pytest
import torch
from torch import nn

from whygrad.flow.paths import Reach


def way(seen, key_of):
    """The names of the operations from a parameter to the loss, and of those that cut."""
    backward = seen.values()
    path = Reach(backward.flow, backward.roots).path(seen.parameter(key_of).key)
    return [op.name for op in path.ops], [path.ops[at].name for at in path.cuts]


def finish(loss, other):
    """A loss that can be differentiated whatever was cut in it."""
    (loss.sum() * other).backward()


@pytest.fixture
def alive():
    return nn.Parameter(torch.ones(1) * 3)


def test_a_forward_pass_as_the_user_wrote_it(recorded, net):
    with recorded() as seen:
        loss = net(torch.ones(4, 3)).pow(2).mean()
        loss.backward()
    assert seen.reached() == {"net.weight", "net.bias"}
    names, cuts = way(seen, "net.weight")
    assert names == ["parameter", "linear", "pow", "mean"] and cuts == []
    assert seen.one("mean").site.code == "loss = net(torch.ones(4, 3)).pow(2).mean()"
    assert seen.values().site.code == "loss.backward()"


def test_a_call_that_gives_the_same_tensor_back_is_no_operation(recorded, net):
    with recorded() as seen:
        net(torch.ones(4, 3)).cpu().to("cpu").contiguous().float().mean().backward()
    assert way(seen, "net.weight")[0] == ["parameter", "linear", "mean"]


@pytest.mark.parametrize(
    ("cut", "name"),
    [
        (lambda x: x.detach(), "detach"),
        (lambda x: x.data, "data"),
        (lambda x: x.argmax(1).float(), "argmax"),
        (lambda x: (x > 0).float(), "__gt__"),
        (lambda x: x.long().float(), "long"),
    ],
    ids=["detach", "data", "argmax", "comparison", "cast"],
)
def test_the_way_goes_on_through_a_cut(recorded, net, alive, cut, name):
    with recorded() as seen:
        finish(cut(net(torch.ones(4, 3))), alive)
    names, cuts = way(seen, "net.weight")
    assert names[-1] == "__mul__" or names[-1] == "mul"
    assert [c.strip("_") for c in cuts] == [name.strip("_")]
    assert seen.reached() == {"alive"}


def test_a_block_without_gradients_is_known_by_its_first_line(recorded, net, alive):
    with recorded() as seen:
        with torch.no_grad():  # here
            out = net(torch.ones(4, 3))
        finish(out, alive)
    block = seen.one("linear").block
    assert block.kind == "torch.no_grad()"
    assert block.site.code == "with torch.no_grad():  # here"


def test_a_value_that_is_changed_in_place_is_a_new_value(recorded, net):
    with recorded() as seen:
        out = net(torch.ones(4, 3)).exp()
        mask = torch.zeros(4, 2)
        out = out * 2
        out.add_(1)
        out[0] = mask[0]
        out.mean().backward()
    assert way(seen, "net.weight")[0][-4:] == ["mul", "add_", "__setitem__", "mean"]


def test_a_view_that_is_written_to_changes_its_base(recorded, net):
    with recorded() as seen:
        buffer = torch.zeros(4, 2)
        buffer[1:3].copy_(net(torch.ones(2, 3)))
        buffer.mean().backward()
    assert seen.reached() == {"net.weight", "net.bias"}
    assert way(seen, "net.weight")[1] == []


def test_a_dead_tensor_leaves_nothing_behind(recorded, net, alive):
    # GIVEN tensors that die at once, so that their ids are used again
    with recorded() as seen:
        for _ in range(200):
            net(torch.ones(1, 3)).detach()
        finish(torch.ones(4, 2), alive)
    backward = seen.values()
    assert Reach(backward.flow, backward.roots).parameters.keys() == backward.reached


# -- leaving and coming back ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("back", "left", "via"),
    [
        (lambda x: torch.tensor(x.mean().item()), "item", "value"),
        (lambda x: torch.tensor(float(x.detach().mean())), "__float__", "value"),
        (lambda x: torch.tensor(x.tolist()), "tolist", "value"),
        (lambda x: torch.tensor([row[0] for row in x.tolist()]), "tolist", "value"),
        (lambda x: torch.from_numpy(x.detach().numpy()), "numpy", "memory"),
        (lambda x: torch.from_numpy(x.detach().numpy()[1:]), "numpy", "value"),
        (lambda x: torch.as_tensor(x.detach().numpy()), "numpy", "memory"),
        (lambda x: torch.tensor(x.detach().numpy()), "numpy", "memory"),
        (lambda x: torch.tensor({"a": x.tolist()}["a"]), "tolist", "value"),
    ],
    ids="item float tolist rows from_numpy slice as_tensor tensor dict".split(),  # noqa: SIM905
)
def test_a_value_is_recognised_when_it_comes_back(recorded, net, alive, back, left, via):
    with recorded() as seen:
        finish(back(net(torch.randn(4, 3))), alive)
    names, _ = way(seen, "net.weight")
    assert left in names
    came_back = [op for op in seen.values().flow.ops.values() if op.fresh and op.inputs]
    assert [op.via for op in came_back] in ([via], ["value"], ["memory"])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_comes_back_as_a_factor(recorded, net, alive, sign):
    with recorded() as seen:
        score = net(torch.randn(4, 3)).mean().item()
        finish(alive * (sign * score), alive)
    assert "item" in way(seen, "net.weight")[0]


def test_new_numbers_are_nobodys(recorded, net, alive):
    # GIVEN numpy arithmetic: the result is no value that was ever read
    with recorded() as seen:
        out = net(torch.randn(4, 3)).detach().numpy()
        finish(torch.tensor(numpy.tanh(out) + 1.25), alive)
    backward = seen.values()
    assert seen.parameter("alive").key in Reach(backward.flow, backward.roots).parameters
    assert {seen.evidence.parameters[k].name for k in Reach(backward.flow, backward.roots).parameters} == {
        "alive"
    }
    assert backward.exits  # but it is remembered that something left


@pytest.mark.parametrize("number", [0.0, 1.0, 0.5])
def test_trivial_numbers_prove_nothing(recorded, alive, number):
    flat = nn.Parameter(torch.full((1,), number))
    with recorded() as seen:
        flat.item()
        finish(torch.tensor([number]), alive)
    backward = seen.values()
    assert len(Reach(backward.flow, backward.roots).parameters) == 1
