"""The examples on the rule pages are true: whygrad finds the bad one and stays silent on the good one.

Each example is put into a small training script at the line ``EXAMPLE`` and runs under ``whygrad check``, in a
process of its own: a child of one that has imported torch already, which is what takes long.
"""

import json
import re
import subprocess
import sys
import textwrap

import pytest

from whygrad.rules.table import RULES

pytest.importorskip("torch")

NOT_RUN = {
    "outside-tape": "TensorFlow",
    "stale-closure": "torch.compile needs a C++ compiler",
}

WHOLE = ("exploding", "oscillating")  # seen over more updates than a check waits for

COMMON = """
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, state):
        return self.net(state)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], -1))


torch.manual_seed(0)
actor, critic = Actor(), Critic()
state, next_state, target = torch.randn(16, 3), torch.randn(16, 3), torch.randn(16, 1)
advantage, returns = torch.randn(16), torch.randn(16, 1)
"""
ACTOR_OPT = "actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)\n"
CRITIC_OPT = "critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)\n"
CRITIC_UPDATE = """
    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
"""
LOOP = "for _ in range(6):\n"

PROGRAMS = {
    "detached": ACTOR_OPT + CRITIC_OPT + LOOP + CRITIC_UPDATE + "    EXAMPLE\n",
    "no-grad-block": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16, 1)
for _ in range(6):
    optimizer.zero_grad()
    EXAMPLE
    optimizer.step()
    target_net.load_state_dict(q_net.state_dict())
""",
    "numpy-round-trip": ACTOR_OPT
    + """
for _ in range(6):
    dist = Categorical(logits=actor(state))
    log_probs, returns = list(dist.log_prob(dist.sample())), [1.0, -1.0] * 8
    actor_opt.zero_grad()
    EXAMPLE
    actor_opt.step()
""",
    "nondifferentiable-op": ACTOR_OPT
    + CRITIC_OPT
    + "alpha = 0.1\n"
    + LOOP
    + CRITIC_UPDATE
    + """
    mean, std = actor(state), torch.ones(16, 2)
    EXAMPLE
    actor_opt.zero_grad()
    policy_loss.backward()
    actor_opt.step()
""",
    "loss-independent": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.policy, self.value = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, state):
        features = torch.relu(self.body(state))
        return self.policy(features), self.value(features)


model, action, entropy = Model(), torch.randint(0, 2, (16,)), 0.0
optimizer = torch.optim.Adam(model.parameters())
for _ in range(6):
    optimizer.zero_grad()
    EXAMPLE
    optimizer.step()
""",
    "not-tracked": """
EXAMPLE

    def forward(self, state):
        mean = self.layers[1](torch.relu(self.layers[0](state)))
        return Normal(mean, self.log_std.exp())


encoder, policy = nn.Linear(3, 4), Policy()
optimizer = torch.optim.Adam([*encoder.parameters(), *policy.parameters()])
for _ in range(6):
    loss = -policy(encoder(state)).log_prob(torch.zeros(16, 2)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "not-in-optimizer": """
encoder, actor, critic = nn.Linear(3, 3), nn.Linear(3, 2), nn.Linear(3, 1)


def policy_loss(logits):
    return logits.pow(2).mean()


def value_loss(value):
    return F.mse_loss(value, target)


EXAMPLE
for _ in range(6):
    features = encoder(state)
    loss = policy_loss(actor(features)) + value_loss(critic(features))
    actor_opt.zero_grad(), critic_opt.zero_grad()
    loss.backward()
    actor_opt.step(), critic_opt.step()
""",
    "stale-optimizer": """
def compute_loss(policy, batch):
    return policy(batch).pow(2).mean()


policy, batch = Actor(), state
torch.save(policy, "policy.pt")
EXAMPLE
for _ in range(6):
    loss = compute_loss(policy, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "frozen": ACTOR_OPT + CRITIC_OPT + LOOP + CRITIC_UPDATE + "    actor_opt.zero_grad()\n    EXAMPLE\n",
    "wrong-variables": """
critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
EXAMPLE
for _ in range(6):
    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    actor_loss = -critic(state, actor(state)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
""",
    "fake-root": ACTOR_OPT
    + """
for _ in range(6):
    dist = Categorical(logits=actor(state))
    action = dist.sample()
    actor_opt.zero_grad()
    EXAMPLE
    actor_opt.step()
""",
    "no-step": ACTOR_OPT + CRITIC_OPT + "action = torch.randn(16, 2)\n" + LOOP + "    EXAMPLE\n",
    "backward-twice": """
log_alpha, target_entropy, batches = torch.zeros(1, requires_grad=True), -2.0, [state] * 6
alpha_opt = torch.optim.Adam([log_alpha])


def log_prob(batch):
    return actor(batch)


EXAMPLE
""",
    "target-leak": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
for _ in range(6):
    EXAMPLE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "target-never-synced": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)


def update(q_net, target):
    loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


batches = [None] * 12
EXAMPLE
""",
    "target-reversed": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
tau = 0.01
for _ in range(6):
    with torch.no_grad():
        target = reward + gamma * target_net(next_state).max(1).values
    loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    EXAMPLE
""",
    "target-alias": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
EXAMPLE
for _ in range(6):
    with torch.no_grad():
        target = reward + gamma * target_net(next_state).max(1).values
    loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q_net.parameters(), target_net.parameters()):
            t.lerp_(p, 0.01)
""",
    "target-in-optimizer": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
EXAMPLE
for _ in range(6):
    target = reward + gamma * target_net(next_state).max(1).values
    loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q_net.parameters(), target_net.parameters()):
            t.lerp_(p, 0.01)
""",
    "broadcast-loss": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
for _ in range(6):
    next_q = target_net(next_state).max(1).values.detach()
    EXAMPLE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q_net.parameters(), target_net.parameters()):
            t.lerp_(p, 0.01)
""",
    "zero-grad-missing": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
EXAMPLE
""",
    "zero-grad-before-step": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
for batch in batches:
    loss = policy_loss(batch)
    EXAMPLE
""",
    "clip-before-backward": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
for batch in batches:
    loss = policy_loss(batch)
    EXAMPLE
""",
    "clip-after-step": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
for batch in batches:
    loss = policy_loss(batch)
    EXAMPLE
""",
    "clip-to-nothing": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
for batch in batches:
    loss = policy_loss(batch)
    optimizer.zero_grad()
    EXAMPLE
""",
    "clip-unused": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())


def policy_loss(batch):
    return F.cross_entropy(policy(batch), torch.zeros(16, dtype=torch.long))


batches = [state] * 6
for batch in batches:
    loss = policy_loss(batch)
    optimizer.zero_grad()
    EXAMPLE
""",
    "cancelled-gradient": """
policy = Actor()
optimizer = torch.optim.Adam(policy.parameters())
returns = torch.randn(16)
for _ in range(6):
    dist = Normal(policy(state), 1.0)
    EXAMPLE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "polluted-gradient": ACTOR_OPT
    + CRITIC_OPT
    + LOOP
    + """
    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    EXAMPLE
""",
    "advantage-not-detached": """
policy, critic, returns = Actor(), nn.Linear(3, 1), torch.randn(16)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()])
for _ in range(6):
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    optimizer.zero_grad()
    EXAMPLE
    optimizer.step()
""",
    "terminal-mask": """
q_net, gamma = Actor(), 0.9
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters())
action, reward = torch.randint(0, 2, (16, 1)), torch.randn(16)
dones = [0, 1] * 8
for _ in range(6):
    next_value = target_net(next_state).max(1).values.detach()
    EXAMPLE
    loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q_net.parameters(), target_net.parameters()):
            t.lerp_(p, 0.01)
""",
    "surrogate-missing": """
policy, returns = Actor(), torch.randn(16)
optimizer = torch.optim.Adam(policy.parameters())
for _ in range(6):
    EXAMPLE
""",
    "value-sign": ACTOR_OPT
    + CRITIC_OPT
    + """
reward, follow = torch.randn(16, 1), copy.deepcopy(critic)
for _ in range(6):
    with torch.no_grad():
        target = reward + 0.9 * follow(next_state, actor(next_state))
        for p, t in zip(critic.parameters(), follow.parameters()):
            t.lerp_(p, 0.01)
"""
    + CRITIC_UPDATE
    + "    EXAMPLE\n",
    "in-place-modified": ACTOR_OPT
    + CRITIC_OPT
    + """
for _ in range(6):
    critic_loss = F.mse_loss(critic(state, torch.randn(16, 2)), target)
    EXAMPLE
""",
    "vanishing": """
EXAMPLE
optimizer = torch.optim.Adam(net.parameters())
for _ in range(6):
    loss = F.mse_loss(net(state), torch.randn(16, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "exploding": """
q_net = Actor()
target_net, optimizer = copy.deepcopy(q_net), torch.optim.Adam(q_net.parameters(), lr=1e-2)
action, reward, done = torch.randint(0, 2, (16, 1)), torch.rand(16), torch.zeros(16)
for update in range(1000):
    EXAMPLE
    optimizer.step()
    if update % 50 == 0:
        target_net.load_state_dict(q_net.state_dict())
""",
    "non-finite": """
policy, advantages = Actor(), torch.randn(16)
optimizer = torch.optim.Adam(policy.parameters())
minibatches = [[0, 1, 2, 3], [4, 5, 6, 7], [8]]


def update(mb, adv):
    log_prob = F.log_softmax(policy(state[mb]), 1)[:, 0]
    loss = -(log_prob * adv).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


EXAMPLE
""",
    "zero-gradient": """
policy, advantages = Actor(), torch.randn(16)
optimizer = torch.optim.Adam(policy.parameters())
minibatches = [[n] for n in range(6)]


def update(mb, adv):
    log_prob = F.log_softmax(policy(state[mb]), 1)[:, 0]
    loss = -(log_prob * adv).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


EXAMPLE
""",
    "oscillating": """
critic, inputs = nn.Linear(4, 1), torch.randn(64, 4)
inputs = inputs / inputs.pow(2).mean(0).sqrt() * torch.tensor([1.0, 0.01, 0.01, 0.01])
EXAMPLE
for _ in range(12):
    loss = F.mse_loss(critic(inputs), inputs[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "stalled": """
net = Actor()
EXAMPLE
for _ in range(12):
    loss = F.mse_loss(net(state), torch.randn(16, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
}


DRIVER = """
import os, sys, torch
torch.set_num_threads(1)
torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
for folder in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        from whygrad.cli.main import main
        verb = "run" if os.path.exists("whole") else "check"
        sys.exit(main([verb, "--quiet", "--out", "out", "train.py"]))
    os.waitpid(child, 0)
"""


def program(slug, example):
    """The example in its training script."""
    return COMMON + re.sub(
        r"^( *)EXAMPLE$", lambda place: textwrap.indent(example, place[1]), PROGRAMS[slug], flags=re.MULTILINE
    )


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The report on every example."""
    root = tmp_path_factory.mktemp("examples")
    folders = {(slug, kind): root / f"{slug}-{kind}" for slug in PROGRAMS for kind in ("bad", "good")}
    for (slug, kind), folder in folders.items():
        folder.mkdir()
        (folder / "whole").touch() if slug in WHOLE else None
        (folder / "train.py").write_text(program(slug, getattr(RULES[slug].page, kind)))
    subprocess.run(
        [sys.executable, "-c", DRIVER, *map(str, folders.values())], capture_output=True, timeout=600
    )
    return {key: json.loads((folder / "out" / "report.json").read_text()) for key, folder in folders.items()}


def test_every_rule_is_here():
    assert PROGRAMS.keys() | NOT_RUN.keys() == RULES.keys()


@pytest.mark.parametrize("slug", PROGRAMS)
def test_the_bad_example_is_found(slug, reports):
    found = {f["rule"]: f["severity"] for f in reports[slug, "bad"]["findings"]}
    assert found.get(slug) in ("error", "warning"), found


@pytest.mark.parametrize("slug", PROGRAMS)
def test_the_good_example_is_healthy(slug, reports):
    report = reports[slug, "good"]
    assert report["exception"] is None and report["updates"]
    assert report["healthy"], [f["title"] for f in report["findings"]]
