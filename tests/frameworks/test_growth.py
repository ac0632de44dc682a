"""Nothing grows with the number of updates."""

import gc
import os
import sys

import torch
from torch import nn

from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.records import ClearRecord, OptimizerRecord, UpdateRecord
from whygrad.frameworks.torch.recorder import Recorder


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


def recorders():
    return [thing for thing in gc.get_objects() if type(thing) is Recorder]


def ours(earlier):
    """How many records of ours there are, and parameters in the recorder's table. Clears are in a ring."""
    gc.collect()
    found = gc.get_objects()
    kinds = [type(thing) for thing in found]
    (recorder,) = [thing for thing in recorders() if not any(thing is other for other in earlier)]
    known = {kind.__name__: kinds.count(kind) for kind in (OptimizerRecord, UpdateRecord)}
    clears = [len(thing.touched) for thing in found if type(thing) is ClearRecord]
    return {**known, "parameters": len(recorder.params), "cleared at once": max(clears)}


def test_networks_that_come_and_go_leave_nothing(recorded):
    # GIVEN a new network and a new optimizer for each update, as in a search or in meta-learning
    def train(networks):
        for _ in range(networks):
            net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
            optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
            loss = net(torch.randn(4, 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    # WHEN there are more and more of them
    earlier = recorders()  # of other tests, if somebody holds them
    with recorded() as seen:
        train(140)
        early = ours(earlier)
        train(160)
        late = ours(earlier)

    # THEN what is kept of those that are gone does not grow, and none of their updates is forgotten
    assert all(late[name] <= max(early[name], 512) for name in early), (early, late)
    assert late["OptimizerRecord"] < 120 and late["cleared at once"] == 4
    assert sum(update.count for update in seen.updates) == 300
    assert sum(1 + update.others for update in seen.updates) == 300


def test_a_step_that_is_not_looked_at_costs_the_same_for_any_number_of_parameters(recorded):
    # GIVEN a network of very many tensors
    many = nn.ParameterList([nn.Parameter(torch.randn(2)) for _ in range(500)])
    optimizer = torch.optim.Adam(many, lr=0.01)
    calls, step = [], []

    def update():
        optimizer.zero_grad()
        torch.stack(list(many)).pow(2).sum().backward()
        optimizer.step()

    def called(frame, event, argument):
        if event == "call" and f"{os.sep}whygrad{os.sep}" in frame.f_code.co_filename:
            calls.append(frame.f_code.co_qualname)

    # WHEN our functions are counted in each update
    with recorded():
        for _ in range(60):
            calls.clear()
            sys.setprofile(called)
            update()
            sys.setprofile(None)
            step.append(len(calls))

    # THEN most updates have a handful of them, and no more than one in twenty looks at each parameter
    quiet = sorted(step[10:])
    assert quiet[len(quiet) // 2] < 20, step
    assert sum(n > 100 for n in quiet) <= 2, step
