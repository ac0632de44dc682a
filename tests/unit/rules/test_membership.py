"""The words for parameters that nobody asks, holds or steps."""

import pytest
from tests.unit.rules.conftest import a_cause

from whygrad.model import Site, Step


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("never-called", "actor gets no gradient: it is never called"),
        ("unused", "actor gets no gradient: its output does not enter the loss"),
        ("constant", "actor gets no gradient: the loss is a constant"),
    ],
)
def test_loss_independent(said, kind, title):
    finding = said("loss-independent", "loss = policy_loss", kind=kind)
    assert finding.title == title
    assert "`loss`" in finding.why


def test_loss_independent_other_network_rewrites_the_call(said, parameters):
    call = Step("self.target(s)", Site("/home/me/train.py", 40, "update", "q = self.target(s).gather(1, a)"))
    finding = said(
        "loss-independent",
        "loss = F.mse_loss(q, y)",
        parameters("agent.local"),
        kind="other-network",
        instead=("agent.target",),
        chain=(call,),
    )
    assert finding.title == "agent.local gets no gradient: the loss goes through agent.target instead"
    assert finding.fix == "write `q = self.local(s).gather(1, a)`"


def test_loss_independent_several_networks(said, parameters):
    finding = said("loss-independent", "", parameters("q1") + parameters("q2"), kind="never-called")
    assert finding.title == "q1 and q2 get no gradient: they are never called"
    assert finding.network == "q1, q2"


@pytest.mark.parametrize(
    ("how", "code", "fix"),
    [
        (
            "plain list",
            "self.body = [nn.Linear(2, 2)]",
            "write `self.body = nn.ModuleList([nn.Linear(2, 2)])`",
        ),
        ("plain dict", "self.heads = {'a': head}", "write `self.heads = nn.ModuleDict({'a': head})`"),
        ("plain list", "self.w = [nn.Parameter(x)]", "write `self.w = nn.ParameterList([nn.Parameter(x)])`"),
        ("plain list", "for _ in range(3):", "put it into `nn.ModuleList(...)`"),
        (
            "non-leaf",
            "self.s = nn.Parameter(torch.zeros(2)).float()",
            "write `self.s = nn.Parameter(torch.zeros(2).float())`",
        ),
        ("attribute", "self.s = torch.zeros(2)", "write `self.s = nn.Parameter(torch.zeros(2))`"),
        ("attribute", "self.s = torch.zeros(2, requires_grad=True)", "wrap it: `self.x = nn.Parameter(x)`"),
        (
            "outside the module",
            "head = nn.Linear(2, 2)",
            "assign it to an attribute in `__init__`: `self.layer = layer`",
        ),
        ("", "", "assign it in `__init__` as an `nn.Parameter` or `nn.Module` attribute"),
    ],
)
def test_not_tracked(said, parameters, how, code, fix):
    finding = said(
        "not-tracked", code, parameters("pi", ("log_std",)), how=how, holder="pi", whole=frozenset()
    )
    assert finding.title == "pi.log_std is used, but not among pi.parameters()"
    assert finding.fix == fix


def test_not_in_optimizer_names_the_part(said, parameters):
    finding = said(
        "not-in-optimizer",
        "self.opt = torch.optim.Adam(self.ac.actor.parameters(), lr=1e-3)",
        parameters("algo.ac", ("feature.0.weight", "feature.2.weight")),
        optimizers=("policy_opt", "value_opt"),
        whole=frozenset(),
    )
    assert finding.title == "algo.ac.feature gets gradients, but no optimizer holds it"
    assert finding.why.startswith("policy_opt and value_opt hold other parameters: the gradients")
    assert "`[..., *self.ac.feature.parameters()]`" in finding.fix


def test_not_in_optimizer_lone_parameter(said, parameters):
    finding = said(
        "not-in-optimizer",
        "opt = Adam(pi.net.parameters())",
        parameters("pi", ("log_std",)),
        whole=frozenset(),
    )
    assert "`[..., pi.log_std]`" in finding.fix


def test_stale_optimizer_loaded(said):
    finding = said(
        "stale-optimizer",
        'self.policy = ckpt["policy"]',
        optimizer="policy_opt",
        made=Site("/home/me/train.py", 22),
    )
    assert finding.title == "actor never changes: policy_opt still holds the old parameters"
    assert "after policy_opt was made (line 22)" in finding.why
    assert finding.fix == (
        'write `self.policy.load_state_dict(ckpt["policy"].state_dict())`; or make policy_opt after this line, '
        "from the new parameters"
    )


def test_stale_optimizer_sees_a_checkpoint(said):
    finding = said("stale-optimizer", 'net = torch.load("net.pt")', optimizer="opt")
    assert finding.fix.startswith('write `net.load_state_dict(torch.load("net.pt").state_dict())`')


def test_stale_optimizer_replaced(said):
    finding = said("stale-optimizer", "net.head = nn.Linear(64, 4)", optimizer="opt")
    assert finding.fix == "make opt after this line, from the new parameters"


def test_frozen(said, parameters):
    finding = said(
        "frozen",
        "p.requires_grad = False",
        parameters("critic"),
        optimizer="critic_opt",
    )
    assert finding.title == "critic gets no gradient: frozen by requires_grad = False"
    assert "`critic.requires_grad_(True)`" in finding.fix
    assert "out of critic_opt" in finding.fix
    assert finding.avoid.startswith("`loss.requires_grad = True`")


def test_frozen_from_the_start(said, parameters):
    code = "self.log_std = nn.Parameter(torch.zeros(2), requires_grad=False)"
    finding = said("frozen", code, parameters("pi", ("log_std",)), whole=frozenset(), optimizer="opt")
    assert finding.title == "pi.log_std gets no gradient: frozen by requires_grad=False"
    assert finding.fix == (
        "write `self.log_std = nn.Parameter(torch.zeros(2))`; or, if it should stay frozen, take it out of opt"
    )


def test_wrong_variables(said, parameters):
    finding = said(
        "wrong-variables",
        "value_opt = torch.optim.Adam(actor.parameters(), lr=5e-3)",
        parameters("critic"),
        optimizer="value_opt",
        others=("actor",),
        meant=("critic",),
    )
    assert finding.title == "critic never changes: value_opt holds actor, not critic"
    assert finding.fix == "write `value_opt = torch.optim.Adam(critic.parameters(), lr=5e-3)`"


def test_wrong_variables_asked_for_or_stored_elsewhere(said):
    code = "grads = torch.autograd.grad(loss, critic.parameters())"
    asked = said("wrong-variables", code, kind="asked", others=("critic",), meant=("actor",), optimizer="opt")
    assert asked.title == "actor never changes: the gradients are asked for critic, not for actor"
    assert asked.fix == "write `grads = torch.autograd.grad(loss, actor.parameters())`"
    part = said("wrong-variables", code, kind="asked")
    assert part.title == "actor never changes: the gradients are asked for other parameters, not for actor"
    stored = said("wrong-variables", "p.grad = g", kind="stored", others=("shared",), meant=("actor",))
    assert stored.title == "actor never changes: the gradients are put into shared, which no optimizer holds"


def test_wrong_variables_local_copy(said, parameters):
    copy = Site("/home/me/train.py", 30, "work", "local.load_state_dict(shared.state_dict())")
    fields = {"kind": "local", "others": ("local",), "meant": ("shared",), "copy": copy}
    finding = said("wrong-variables", "optimizer.step()", parameters("shared"), **fields)
    assert finding.title == "shared never changes: the steps go into local, a copy that is overwritten again"
    assert finding.why.startswith("The copy at line 30 gives local the weights of shared")


def test_fake_root_points_at_the_real_cut(said):
    real = a_cause("numpy-round-trip", site=Site("/home/me/train.py", 52))
    finding = said("fake-root", "loss.requires_grad = True", real=real)
    assert finding.title == "actor gets no gradient, and loss.requires_grad = True hides it"
    assert "The real cut (line 52) is numpy-round-trip." in finding.why
    assert finding.fix == (
        "delete this line and repair the real cut (line 52): `whygrad explain numpy-round-trip`"
    )


def test_fake_root_by_a_keyword(said):
    finding = said("fake-root", "loss = torch.tensor(total, requires_grad=True)")
    assert finding.title == "actor gets no gradient, and torch.tensor(..., requires_grad=True) hides it"
    real = a_cause("numpy-round-trip", site=Site("/home/me/train.py", 52))
    finding = said("fake-root", "loss = torch.tensor(total, requires_grad=True)", real=real)
    assert finding.fix.startswith("leave `requires_grad=True` out and repair the real cut")


def test_stale_closure(said):
    finding = said("stale-closure", "act = torch.compile(actor)")
    assert finding.title == "actor gets no gradient: act still runs the network that it captured"
    assert finding.fix.startswith("write `act = torch.compile(actor)` again after actor has been replaced")
    assert finding.fix.endswith("`actor.load_state_dict(new.state_dict())`")
    alias = said("stale-closure", "actor = torch.compile(net)")
    assert (
        alias.title == "actor gets no gradient: the compiled function still runs the network that it captured"
    )


def test_no_step(said):
    never = said("no-step", "critic_loss.backward()", optimizer="critic_opt")
    assert never.title == "actor gets gradients that are never applied"
    assert never.fix == "call `critic_opt.step()` after `critic_loss.backward()`"
    zero = said("no-step", rate_zero=True, optimizer="opt")
    assert zero.title == "actor never changes: the learning rate is 0"
    assert zero.fix.startswith("give `lr` a value above 0 (`print(opt.param_groups[0]['lr'])` shows")


@pytest.mark.parametrize(
    ("code", "of"),
    [
        ("g = torch.autograd.grad(loss, params)", "params"),
        ("g = differentiate(loss)", "actor.parameters()"),
    ],
)
def test_gradients_that_autograd_grad_gives_are_put_where_the_step_looks(said, code, of):
    finding = said("no-step", code, optimizer="opt", asked=True)
    assert finding.why == f"`{code}` only computes the gradients; no `step()` gets them, so nothing changes."
    assert finding.fix == f"add `for p, g in zip({of}, g): p.grad = g` after it, before `opt.step()`"


def test_backward_twice(said, parameters):
    finding = said(
        "backward-twice",
        "self.alpha = self.log_alpha.exp()",
        parameters("agent", ("log_alpha",)),
        backward=Site("/home/me/train.py", 44),
        whole=frozenset(),
    )
    assert (
        finding.title == "backward runs a second time through the graph of self.alpha = self.log_alpha.exp()"
    )
    assert "the next one (line 44) walks into it again, on its way to agent.log_alpha." in finding.why
    assert finding.fix.startswith("compute it anew in each update: move `self.alpha")
    assert finding.avoid.startswith("`retain_graph=True`")


def test_backward_twice_through_a_hidden_state(said):
    finding = said("backward-twice", "q, h = net(obs, h)")
    assert "`h = h.detach()`" in finding.fix


def test_in_place_modified_by_a_step(said, parameters):
    finding = said(
        "in-place-modified",
        "self.qf1_opt.step()",
        parameters("agent.qf1"),
        writer="self.qf1_opt.step()",
        by_step=True,
        forward=Site("/home/me/train.py", 37),
        backward=Site("/home/me/train.py", 58),
    )
    assert finding.title == "agent.qf1 is overwritten by self.qf1_opt.step() before its backward has run"
    assert finding.fix == (
        "finish one update before the next begins: move the forward pass (line 37) below `self.qf1_opt.step()`, "
        "or its `backward` (line 58) above it"
    )
    assert "`.detach()`" in finding.avoid


def test_in_place_modified_by_an_operation(said):
    finding = said("in-place-modified", "h += noise", writer="add_", value="h")
    assert finding.title == "h is overwritten by h += noise before its backward has run"
    assert finding.fix == "write `h = h + noise`"
