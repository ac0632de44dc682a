"""Nothing grows with the number of updates."""

import gc

import torch

from whygrad.frameworks.shared.nodes import Node


def living_nodes():
    gc.collect()
    return sum(type(thing) is Node for thing in gc.get_objects())


def test_the_recorder_keeps_a_bounded_past(recorded, net):
    # GIVEN a state that is carried from update to update, so that the past hangs on the present
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    hidden = torch.zeros(2)

    def train(updates):
        nonlocal hidden
        for _ in range(updates):
            hidden = 0.5 * hidden.detach() + net(torch.randn(3))
            loss = (hidden - torch.tensor([hidden.sum().item(), 1.0])).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    # WHEN training goes on and on
    with recorded():
        train(150)
        early = living_nodes()
        train(800)
        late = living_nodes()

    # THEN the past that is kept does not get longer
    assert late <= early
