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
    ("entropy-sign", "y = r + g * (q + alpha * lp2)", "y = r + g * (q - alpha * lp2)", {}),
    ("entropy-sign", "l = -(p * (q + a * log_p)).mean()", "l = -(p * (q - a * log_p)).mean()", {}),
    ("numpy-round-trip", "r = torch.from_numpy(np.exp(a.numpy() - b.numpy()))", "r = torch.exp(a - b)", {}),
    ("fake-root", "l = Variable((-lp * r).mean().data, requires_grad=True)", "l = (-lp * r).mean().data", {}),
    ("frozen", "net.enc.requires_grad = True", "net.enc.requires_grad_(True)", {}),
    ("double-softmax", "l = crossentropy(a, o)", "l = crossentropy(a, o, from_logits=True)", {}),
    ("stalled", "opt = Adam(net.parameters(), lr=3e-13)", "opt = Adam(net.parameters())", {}),
    ("stalled", "opt = keras.Adam(3e-13)", "opt = keras.Adam()", {"framework": "tensorflow"}),
    ("exploding", "gamma = 1.99", "gamma = 0.99", {}),
    ("clip-to-nothing", "clip_grad_norm_(p, max_norm=1e-6)", "clip_grad_norm_(p, max_norm=0.5)", {}),
    ("clip-to-nothing", "opt = Adam(1e-3, clipnorm=0.1)", "opt = Adam(1e-3)", {"framework": "tensorflow"}),
    ("zero-gradient", "h = F.relu(x)", "h = F.leaky_relu(x)", {"title": "all its ReLU units are dead"}),
    (
        "zero-gradient",
        "l = mse(torch.min(q1(s), q2(s)), y)",
        "l = mse(q1(s), y) + mse(q2(s), y)",
        {"title": "the minimum or maximum always takes the other value"},
    ),
    (
        "zero-gradient",
        "adv = (ret - ret.mean()) / ret.std()",
        "adv = ret",
        {"title": "normalised over one sample"},
    ),
    (
        "unmasked-bootstrap",
        "d = r[t] + 0.9 * v[t + 1] - v[t]",
        "d = r[t] + 0.9 * v[t + 1] * (1 - dones[t]) - v[t]",
        {"title": "nothing reads `dones`"},
    ),
    (
        "target-unused",
        "v = net(n).gather(1, old(n).argmax(1))",
        "v = old(n).gather(1, net(n).argmax(1))",
        {"title": "net gives the value, and old only chooses the action"},
    ),
    (
        "broadcast-loss",
        "l = ((q - y) ** 2).mean()",
        "l = ((q.gather(1, a) - y) ** 2).mean()",
        {"fix": "compare one number with one: `q.gather(1, a)`"},
    ),
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


def test_a_sum_never_changes_its_sign_for_its_entropy():
    """``-(q + a * logp)`` without its minus would silence the rule, and make the policy worse."""
    found = proposed("entropy-sign", "l = -(p * (q + a * logp)).mean()\n", "l =")
    assert found == ["l = -(p * (q - a * logp)).mean()\n"]


def test_a_loss_that_is_used_up_is_made_anew_in_the_loop():
    text = (
        "for s in data:\n    v = net(s)\n    loss = f(v)\n    for _ in range(4):\n        loss.backward()\n"
    )
    found = proposed("backward-twice", text, "loss.backward()", ("loss.backward()", BROKEN))
    assert "    for _ in range(4):\n        loss = f(v)\n        loss.backward()\n" in found[0]
    assert (
        "    for _ in range(4):\n        v = net(s)\n        loss = f(v)\n        loss.backward()\n"
        in found[1]
    )


def test_a_function_that_only_collects_is_put_under_no_grad():
    text = "def collect(s):\n    v = net(s)\n    return v\n\n\nloss.backward()\n"
    found = proposed("backward-twice", text, "v = net(s)", ("loss.backward()", BROKEN))
    assert f"@torch.no_grad()\n{text}" in found


def test_a_state_of_the_agent_is_cut_under_the_name_that_the_update_knows():
    text = "class A:\n    def forward(self, o):\n        self.h = f(o, self.h)\n\n\n"
    text += "def update(agent):\n    loss = agent(o)\n    loss.backward()\n"
    found = proposed("backward-twice", text, "self.h =", ("loss.backward", BROKEN), network="agent")
    assert found[0].endswith("    loss.backward()\n    agent.h = agent.h.detach()\n")


def test_a_part_that_nobody_names_is_named_after_the_one_beside_it():
    text = "self.opt = Adam(self.ac.pi.parameters(), lr=1)\n"
    found = proposed("not-in-optimizer", text, "self.opt", network="v.ac.body", others=("v.ac.pi",))
    assert "*self.ac.body.parameters()" in found[0]


def test_gradients_are_handed_over_where_they_are_taken():
    text = "for lp, gp in zip(a, b):\n    grad = lp.grad\nopt.step()\n"
    found = proposed("gradient-handover", text, "grad = ")
    assert found[0] == "for lp, gp in zip(a, b):\n    gp.grad = lp.grad.clone()\nopt.step()\n"


def test_a_function_that_applies_gradients_and_is_never_called_is_called():
    text = "def apply(grads):\n    for p, g in zip(params, grads):\n        p.grad = g\n\n\n"
    text += "grads = f()\nopt.step()\n"
    found = proposed("no-step", text, "grads = f()")
    assert any(change.endswith("grads = f()\napply(grads)\nopt.step()\n") for change in found)


def test_a_group_at_rest_takes_the_rate_of_the_others():
    text = 'groups = [{"params": a, "lr": rate}, {"params": b}]\nopt = Adam(groups, lr=1e-3)\n'
    found = proposed("no-step", text, "opt =", title="the learning rate is 0")
    assert text.replace(', "lr": rate', "") in found


def test_integer_division_comes_before_the_default():
    text = "opt = Adam(net.parameters(), lr=rate * (n // m))\n"
    found = proposed("no-step", text, "opt =", title="the learning rate is 0")
    assert found[0] == text.replace("//", "/")


def test_smaller_steps_are_no_cure_of_a_discount_above_one():
    text = "opt = Adam(net.parameters(), lr=1e-3)\ngamma = 1.5\n"
    assert proposed("exploding", text, "opt =") == [text.replace("1.5", "0.99")]
    assert proposed("exploding", text.replace("1.5", "0.9"), "opt =") == [
        "opt = Adam(net.parameters())\ngamma = 0.9\n"
    ]


def test_a_scaled_gradient_is_unscaled_before_it_is_clipped():
    text = "scaler.scale(l).backward()\nclip_grad_norm_(p, 1.0)\nscaler.step(opt)\n"
    found = proposed("clip-to-nothing", text, "clip", ("scaler.step", PLAIN))
    assert found[0] == text.replace("clip", "scaler.unscale_(opt)\nclip", 1)


def test_the_other_loss_keeps_its_hands_off_the_network():
    text = "a_loss = -critic(actor(s)).mean()\n(c_loss + a_loss).backward()\n"
    found = proposed("polluted-gradient", text, "(c_loss", network="critic")
    lines = [
        "critic.requires_grad_(False)",
        "a_loss = -critic(actor(s)).mean()",
        "critic.requires_grad_(True)",
    ]
    assert any(change.startswith("\n".join(lines) + "\n(c_loss") for change in found)


def test_an_optimizer_that_is_there_already_is_kept():
    text = "opt = Adam(p)\n\n\ndef update():\n    opt = Adam(p)\n    opt.step()\n"
    found = proposed("optimizer-recreated", text, "    opt = Adam")
    assert found[0] == "opt = Adam(p)\n\n\ndef update():\n    opt.step()\n"


def test_a_layer_of_forward_is_made_in_init():
    text = "class N:\n    def __init__(self):\n        self.b = L()\n\n    def forward(self, x):\n"
    text += "        h = Linear(2, 2)\n        return h(x)\n"
    found = proposed("not-tracked", text, "h = Linear")
    wanted = text.replace("        h = Linear(2, 2)\n", "").replace("h(x)", "self.h(x)")
    assert wanted.replace("self.b = L()", "self.b = L()\n        self.h = Linear(2, 2)") in found


def test_a_sync_that_nobody_wrote_blends():
    text = "q, old = Net(), Net()\nloss.backward()\nopt.step()\n"
    found = proposed("target-never-synced", text, "opt.step()", network="old", others=("q",))
    [one] = [change for change in found if "lerp_" in change]
    assert "    for old, new in zip(old" not in one  # its own names are not taken away
    assert compile(one, "it", "exec")


def test_a_condition_with_nothing_in_it_goes_with_its_line():
    text = "for t, x in data:\n    if t % 1 == 0:\n        h = h.detach()\n    h = cell(x, h)\n"
    found = proposed("detached", text, "h.detach", ("h.detach", CUT))
    assert found[0] == "for t, x in data:\n    h = cell(x, h)\n"


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
