"""From a finding and its source to the change: the lines that people write, and what is written instead."""

import pytest

pytest.importorskip("libcst")

from tests.unit.fixing.build import FILE, finding, run

from whygrad.fixing.case import Case
from whygrad.fixing.proposals import propose
from whygrad.fixing.source import Source
from whygrad.model import GradientMap, LossTerm, Mark, Reached, Role, UpdateCount

HERE, CUT, LEAK, BROKEN, PLAIN = Mark.HERE, Mark.CUT, Mark.LEAK, Mark.BROKEN, Mark.NONE


def proposed(rule, text, part, *chain, others=(), framework="torch", roles=(), **more):
    """The texts that are tried, in their order."""
    told = finding(rule, text, part, *chain, **more)
    reached = tuple(Reached(name, True) for name in others)
    maps = (GradientMap("opt", None, (LossTerm("loss", None, reached),)),)
    made = (UpdateCount("opt", 5, 5, ("net",), loss=told.site, made=told.site),)
    roles = tuple(Role(name, role, "") for name, role in roles)
    ran = run(told, framework=framework, gradient_map=maps, updates=made, roles=roles)
    source = Source(FILE, text.encode())
    return [c.files[FILE].decode() for c in propose(Case(told, ran, lambda name: source))]


ONE_LINE = [
    ("detached", "a = actor(s).detach()", "a = actor(s)", {}),
    ("detached", "x = self.enc(i).data", "x = self.enc(i)", {}),
    ("detached", "f = tf.stop_gradient(self.enc(o))", "f = self.enc(o)", {"framework": "tensorflow"}),
    ("nondifferentiable-op", "u = dist.sample()", "u = dist.rsample()", {}),
    ("numpy-round-trip", "t = t - lp.item() * w", "t = t - lp * w", {}),
    ("numpy-round-trip", "lp = torch.tensor(lps)", "lp = torch.stack(lps)", {}),
    (
        "numpy-round-trip",
        "a = torch.from_numpy(np.clip(a.detach().numpy(), -1.0, 1.0))",
        "a = torch.clamp(a, -1.0, 1.0)",
        {},
    ),
    (
        "numpy-round-trip",
        "a = np.clip(net(s), LO, HI)",
        "a = tf.clip_by_value(net(s), LO, HI)",
        {"framework": "tensorflow"},
    ),
    ("frozen", "self.p = nn.Parameter(x, requires_grad=False)", "self.p = nn.Parameter(x)", {}),
    (
        "frozen",
        'self.d = Dense(16, activation="relu", trainable=False)',
        'self.d = Dense(16, activation="relu")',
        {},
    ),
    (
        "not-tracked",
        "self.h = [nn.Linear(2, 2) for _ in r]",
        "self.h = torch.nn.ModuleList([nn.Linear(2, 2) for _ in r])",
        {},
    ),
    ("value-sign", "loss = (lp * w).mean()", "loss = -(lp * w).mean()", {}),
    ("value-sign", "loss = lp * w", "loss = -(lp * w)", {}),
    ("entropy-sign", "loss = pg + 0.01 * d.entropy().mean()", "loss = pg - 0.01 * d.entropy().mean()", {}),
    ("entropy-sign", "a_loss = (-0.2 * logp - q).mean()", "a_loss = (0.2 * logp - q).mean()", {}),
    ("double-softmax", "d = Categorical(logits=policy(o))", "d = Categorical(probs=policy(o))", {}),
    ("cancelled-gradient", "r = torch.exp(new - old)", "r = torch.exp(new - old.detach())", {}),
    ("wrong-axis", "p = F.softmax(x, dim=0)", "p = F.softmax(x, dim=-1)", {}),
    ("clip-unused", "p.grad.clamp(-1, 1)", "p.grad.clamp_(-1, 1)", {}),
    ("in-place-modified", "a *= self.bound", "a = a * self.bound", {}),
    ("in-place-modified", "a *= b + c", "a = a * (b + c)", {}),
    ("non-finite", "l = (m ** 2).sum(1).sqrt()", "l = ((m ** 2).sum(1) + 1e-8).sqrt()", {}),
    ("target-alias", "self.t = self.q", "self.t = copy.deepcopy(self.q)", {"before": "import copy\n"}),
    ("terminal-mask", "y = r + 0.5 * v * ~done", "y = r + 0.5 * v * (1 - done)", {}),
    ("target-reversed", "t.mul_(tau).add_((1 - tau) * p)", "t.mul_(1 - tau).add_(tau * p)", {}),
    (
        "target-reversed",
        "t.copy_(tau * p + 1 - tau * t)",
        "t.copy_(tau * p + (1 - tau) * t)",
        {},
    ),
]


@pytest.mark.parametrize("rule, bad, good, more", ONE_LINE, ids=[f"{r}: {b}" for r, b, _, _ in ONE_LINE])
def test_the_first_change_of_a_line_is_the_right_one(rule, bad, good, more):
    before = more.pop("before", "") if (more := dict(more)) is not None else ""
    assert proposed(rule, f"{before}{bad}\n", bad, (bad, CUT), **more)[0] == f"{before}{good}\n"


def test_the_bootstrap_value_is_stopped_and_never_the_whole_difference():
    text = "v = critic(s)\nv_next = critic(s2)\ndelta = r + gamma * v_next * (1 - done) - v\nloss = delta.pow(2).mean()\n"
    found = proposed("target-leak", text, "delta = ", ("delta = ", LEAK), network="critic")
    assert "gamma * v_next.detach() * (1 - done) - v\n" in found[0]


def test_an_old_log_probability_is_made_a_constant_and_no_graph_is_retained_first():
    text = "old = dist.log_prob(a)\nfor _ in range(4):\n    loss = f(old)\n    loss.backward()\n"
    found = proposed("backward-twice", text, "old =", ("loss.backward()", BROKEN))
    assert found[0].startswith("old = dist.log_prob(a).detach()\n")


def test_what_is_carried_over_is_cut_between_two_updates():
    text = "for o in obs:\n    v, h = net(o, h)\n    loss = v.sum()\n    loss.backward()\n    opt.step()\n"
    found = proposed("backward-twice", text, "v, h", ("loss.backward()", BROKEN))
    assert "    loss.backward()\n    h = h.detach()\n    opt.step()\n" in found[0]


def test_a_clip_is_moved_above_the_step():
    text = "loss.backward()\nopt.step()\nclip_grad_norm_(net.parameters(), 1)  # 1 is usual\n"
    found = proposed("clip-after-step", text, "clip", ("opt.step()", PLAIN))
    assert found == ["loss.backward()\nclip_grad_norm_(net.parameters(), 1)  # 1 is usual\nopt.step()\n"]


def test_the_other_network_is_called():
    text = "q = target(s)\nloss = f(q)\n"
    found = proposed("loss-independent", text, "loss =", network="online", others=("target",))
    assert found == []  # `online` stands nowhere: nobody can know what it would be called here
    text = "online = net()\nq = target(s)\nloss = f(q)\n"
    found = proposed("loss-independent", text, "loss =", network="online", others=("target",))
    assert "q = online(s)\n" in found[0]


def test_what_the_optimizer_does_not_hold_is_added_where_its_list_is_made():
    text = "enc, head = a(), b()\nparams = chain(head.parameters())\nopt = Adam(params, lr=1)\n"
    found = proposed("not-in-optimizer", text, "opt =", network="enc", optimizer="opt")
    assert "params = chain(head.parameters(), enc.parameters())\n" in found[0]


def test_a_file_of_a_library_is_not_touched():
    told = finding("detached", "x = y.detach()", "x =")
    assert list(propose(Case(told, run(told), lambda name: None))) == []


def test_no_candidate_is_tried_twice_and_there_are_not_too_many():
    text = "y = " + " * ".join(f"f{n}(x)" for n in range(30)) + "\n"
    found = proposed("target-leak", text, "y =", ("y =", LEAK))
    assert len(found) == len({*found}) <= 8


def test_the_line_that_hid_the_cut_goes_with_it():
    text = "q = net(s).detach()\nloss = f(q)\nloss.requires_grad = True\n"
    cut, cover = finding("detached", text, "q =", ("q =", CUT)), finding("fake-root", text, "loss.req")
    source = Source(FILE, text.encode())
    found = [c.files[FILE] for c in propose(Case(cut, run(cut, cover), lambda name: source))]
    assert found[0] == b"q = net(s)\nloss = f(q)\nloss.requires_grad = True\n"
    assert found[1] == b"q = net(s)\nloss = f(q)\n"
