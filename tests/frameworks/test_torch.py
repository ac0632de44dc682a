"""What the torch backend knows of parameters, optimizers, updates and crashes."""

import copy
import gc
import threading
import weakref

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.shared.budget import BUDGET
from whygrad.frameworks.torch import observer as watch
from whygrad.frameworks.torch.backend import TorchBackend


def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# -- names ----------------------------------------------------------------------------------------


def networks(seen):
    return {p.network for p in seen.evidence.parameters.values()}


def test_a_function_calls_all_agents_alike_and_its_caller_does_not(recorded):
    def learn(agent):
        step(agent["opt"], agent["net"](torch.ones(1, 3)).sum())

    agents = [{"net": nn.Linear(3, 2)} for _ in range(2)]
    for one in agents:
        one["opt"] = torch.optim.SGD(one["net"].parameters(), lr=0.1)
    with recorded() as seen:
        learn(agents[0])
        learn(agents[1])
    assert networks(seen) == {"agents[0]['net']", "agents[1]['net']"}


def test_tensors_of_one_dict_are_one_network_and_keys_may_have_dots(recorded):
    params = {name: torch.ones(2, requires_grad=True) for name in ("0.weight", "0.bias")}
    optimizer = torch.optim.SGD(params.values(), lr=0.1)
    with recorded() as seen:
        step(optimizer, sum(value.sum() for value in params.values()))
    assert networks(seen) == {"params"}


def test_an_agent_that_cannot_be_called_holds_networks(recorded):
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor, self.critic = (nn.Sequential(nn.Linear(3, 1)) for _ in range(2))
            self.log_std = nn.Parameter(torch.zeros(1))

    agent = Agent()
    optimizer = torch.optim.SGD(agent.parameters(), lr=0.1)
    with recorded() as seen:
        x = torch.ones(1, 3)
        step(optimizer, (agent.actor(x) + agent.critic(x) + agent.log_std).sum())
    assert networks(seen) == {"agent.actor", "agent.critic", "agent.log_std"}


def test_what_only_a_closure_keeps_has_its_name_there(recorded):
    def made():
        q_net = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(q_net.parameters(), lr=0.1)
        return lambda: step(optimizer, q_net(torch.ones(1, 3)).sum())

    train = made()
    with recorded() as seen:
        train()
    assert networks(seen) == {"q_net"}


def test_parameters_are_called_as_their_owner_calls_them(recorded):
    class Agent:
        def __init__(self):
            self.nets = {"pi": nn.Linear(3, 2)}
            self.log_std = nn.Parameter(torch.zeros(2))

    agent = Agent()
    optimizer = torch.optim.SGD([*agent.nets["pi"].parameters(), agent.log_std], lr=0.1)
    with recorded() as seen:
        step(optimizer, (agent.nets["pi"](torch.ones(1, 3)) * agent.log_std.exp()).sum())
    assert seen.reached() == {"agent.nets['pi'].weight", "agent.nets['pi'].bias", "agent.log_std"}
    assert seen.updates[0].optimizer == "optimizer"


def test_a_layer_in_a_plain_list_is_not_tracked(recorded):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(3, 3)
            self.heads = [nn.Linear(3, 2)]

        def forward(self, x):
            return self.heads[0](self.body(x))

    with recorded() as seen:
        model = Net()
        step(torch.optim.SGD(model.parameters(), lr=0.1), model(torch.ones(1, 3)).sum())
    head = seen.parameter("model.heads[0].weight")
    assert (head.untracked_in, head.untracked_how) == ("model", "plain list")
    assert head.made[0].code == "self.heads = [nn.Linear(3, 2)]"
    assert seen.parameter("model.body.weight").untracked_in == ""


def test_a_copy_knows_its_origin(recorded, net):
    with recorded() as seen:
        target = copy.deepcopy(net)
        other = nn.Linear(3, 2)
        other.load_state_dict(net.state_dict())
        (net(torch.ones(1, 3)) + target(torch.ones(1, 3)) + other(torch.ones(1, 3))).sum().backward()
    assert seen.parameter("target.weight").copy_of == "net"
    assert seen.parameter("other.weight").copy_of == "net"
    assert seen.parameter("net.weight").copy_of == ""


def test_a_replaced_layer_and_a_frozen_one(recorded):
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    with recorded() as seen:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model[1] = nn.Linear(3, 2)  # replaced
        model[0].requires_grad_(False)  # frozen
        step(optimizer, model(torch.ones(1, 3)).sum())
    assert seen.parameter("model.1.weight").replaced_at.code == "model[1] = nn.Linear(3, 2)  # replaced"
    assert seen.parameter("model.0.weight").frozen_at.code == "model[0].requires_grad_(False)  # frozen"
    assert not seen.parameter("model.0.weight").trainable


# -- updates --------------------------------------------------------------------------------------


def test_an_update_knows_who_had_no_gradient(recorded, net):
    spare = nn.Linear(3, 2)
    optimizer = torch.optim.SGD([*net.parameters(), *spare.parameters()], lr=0.1)
    with recorded() as seen:
        for _ in range(2):
            step(optimizer, net(torch.ones(1, 3)).sum())
    known = seen.evidence.parameters
    (record,) = seen.evidence.optimizers.values()
    assert [u.number for u in seen.evidence.updates] == [1, 2]
    assert {known[k].name for k in seen.evidence.updates[0].absent} == {"spare.weight", "spare.bias"}
    assert seen.evidence.always_absent[record.key] == seen.evidence.updates[0].absent
    assert seen.evidence.updates[0].backwards[0].applied == seen.evidence.updates[0].backwards[0].reached


def test_zeros_are_seen_as_zeros(recorded, net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with recorded() as seen:
        step(optimizer, net(torch.ones(1, 3)).round().sum())
    assert seen.evidence.updates[0].zero == seen.evidence.updates[0].backwards[0].reached
    assert seen.evidence.updates[0].absent == frozenset()


def test_each_optimizer_has_its_own_backwards(recorded, net):
    critic = nn.Linear(2, 1)
    actor_opt = torch.optim.SGD(net.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    with recorded() as seen:
        step(critic_opt, critic(torch.ones(1, 2)).sum())
        step(actor_opt, critic(net(torch.ones(1, 3))).sum())
    by_name = {o.key: o.name for o in seen.evidence.optimizers.values()}
    led = {by_name[u.optimizer]: [b.number for b in u.backwards] for u in seen.evidence.updates}
    assert led == {"critic_opt": [1], "actor_opt": [2]}


def test_a_closure(recorded, net):
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(1, 3)).pow(2).sum()
        loss.backward()
        return loss

    with recorded() as seen:
        optimizer.step(closure)
    assert (seen.updates[0].count, seen.updates[0].recorded) == (1, 1)
    assert seen.evidence.updates[0].absent == frozenset()


def test_autograd_grad_knows_what_was_wanted(recorded, net):
    with recorded() as seen:
        torch.autograd.grad(net(torch.ones(1, 3)).sum(), [net.weight])
    known = seen.evidence.parameters
    assert {known[k].name for k in seen.values().wanted} == {"net.weight"}
    assert seen.reached() == {"net.weight"}


def test_recording_thins_out(recorded, net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with recorded() as seen:
        for _ in range(60):
            step(optimizer, net(torch.ones(1, 3)).sum())
        assert torch._C._len_torch_function_stack() == 0  # nobody listens between two windows
    assert (seen.updates[0].count, seen.updates[0].recorded) == (60, BUDGET.first)


def test_a_change_of_absence_opens_a_window(recorded, net):
    spare = nn.Linear(3, 2)
    optimizer = torch.optim.SGD([*net.parameters(), *spare.parameters()], lr=0.1)
    with recorded() as seen:
        for n in range(60):
            out = net(torch.ones(1, 3)).sum()
            step(optimizer, out + spare(torch.ones(1, 3)).sum() if n < 40 else out)
    assert seen.updates[0].recorded > BUDGET.first
    assert seen.evidence.updates[-1].number > 40


def test_an_optimizer_at_the_place_of_a_dead_one_is_another_one(recorded, net):
    with recorded() as seen:
        for _ in range(5):
            step(torch.optim.SGD(net.parameters(), lr=0.1), net(torch.ones(1, 3)).sum())
    assert sum(update.count for update in seen.updates) == 5


# -- threads, crashes, leaving --------------------------------------------------------------------


def test_a_thread_is_seen(recorded, net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with recorded() as seen:
        worker = threading.Thread(target=lambda: step(optimizer, net(torch.ones(1, 3)).sum()))
        worker.start()
        worker.join()
    assert (seen.updates[0].count, seen.updates[0].recorded) == (1, 1)
    assert seen.reached() == {"net.weight", "net.bias"}


def test_a_backward_that_raises_is_remembered(recorded, net):
    with recorded() as seen:
        with pytest.raises(RuntimeError):
            net(torch.ones(1, 3)).detach().sum().backward()
        loss = net(torch.ones(1, 3)).exp().sum()
        loss.backward()
        with pytest.raises(RuntimeError):
            loss.backward()
    first, *_, last = seen.evidence.loose
    assert "does not require grad" in first.error
    assert "second time" in last.error
    assert any(op.walked for op in last.flow.ops.values())


def test_what_was_overwritten_and_by_whom(recorded, net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    tail = nn.Linear(2, 2)
    with recorded() as seen:
        out = net(torch.ones(1, 3).requires_grad_())
        step(optimizer, net(torch.ones(1, 3)).sum())
        with pytest.raises(RuntimeError, match="inplace operation"):
            tail(out).sum().backward()
    (failed,) = [b for b in seen.evidence.loose if b.error]
    assert {(c.value, c.writer) for c in failed.changed} >= {("net.weight", "optimizer.step()")}
    assert failed.changed[0].site.code == "optimizer.step()"


@pytest.mark.parametrize("named", [True, False])
def test_no_tensor_is_kept_alive(recorded, net, monkeypatch, named):
    """Not by a look for names, which goes through local variables, nor without one."""
    if not named:
        monkeypatch.setattr(watch, "variables", lambda namespace, frame: ([], []))
    with recorded():
        out = net(torch.ones(4, 3))
        gone = [weakref.ref(out), weakref.ref(loss := out.mean())]
        loss.backward()
        del out, loss
        gc.collect()
        assert [ref() for ref in gone] == [None, None]


def test_our_own_failure_is_a_note_and_not_the_users(net, monkeypatch):
    # GIVEN a recorder that breaks
    backend = TorchBackend()
    backend.attach(Setup())
    try:
        monkeypatch.setattr(backend.observer.recorder, "inputs", lambda *_: 1 / 0)
        # WHEN the user trains
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        step(optimizer, net(torch.ones(1, 3)).sum())
        # THEN it works, and the report says what we could not do
        assert net.weight.grad is not None
        (note,) = [n for n in backend.observe().notes if n.kind == "internal"]
        assert "ZeroDivisionError" in note.text
    finally:
        backend.detach()


def test_somebody_elses_mode_is_left_in_peace(recorded, net):
    class Theirs(TorchFunctionMode):
        seen = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            Theirs.seen += 1
            return func(*args, **(kwargs or {}))

    with recorded(), Theirs():
        net(torch.ones(1, 3)).sum()
    assert Theirs.seen
    with Theirs(), recorded():
        net(torch.ones(1, 3)).sum()
    assert torch._C._len_torch_function_stack() == 0
