"""The program of ``watch.py --turns``: DQN updates, in turns with whygrad's hooks in their places and without.

    whygrad run [--watch ...] watch_turns.py ROUNDS WIDTH EVERY

Two processes that do the same differ by more than a percent here. So these are turns of one process: with the
hooks, without them, and without them once more, in an order that changes. Each update is timed by itself, in
its own thread's processor time; the first of a turn is left out, and so are those before the first turn, in
which whygrad records. Between the rounds there are more updates with the hooks: what the other threads need
is divided by all of those.
"""

import copy
import itertools
import json
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import optimizer as torch_optimizer

from whygrad.frameworks.shared.backend import observers

TURN, BETWEEN, BEFORE = 5, 30, 1200
KINDS = ("with", "without", "again")

rounds, width, every = map(int, sys.argv[1:])
torch.manual_seed(0)
torch.set_num_threads(1)
layers = [nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)]
q_net = nn.Sequential(*layers)
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
states, actions = torch.randn(1000, 4), torch.randint(0, 2, (1000, 1))
rewards, done = torch.randn(1000, 1), (torch.rand(1000, 1) < 0.1).float()


def train(updates: int) -> list[float]:
    """How long each of them took."""
    times = [time.thread_time()]
    for _ in range(updates):
        idx = torch.randint(0, 999, (32,))
        q = q_net(states[idx]).gather(1, actions[idx])
        with torch.no_grad():
            y = rewards[idx] + 0.99 * (1 - done[idx]) * target_net(states[idx + 1]).max(1, keepdim=True)[0]
        loss = F.smooth_l1_loss(q, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(time.thread_time())
    return [after - before for before, after in itertools.pairwise(times)]


train(BEFORE)
(watch,) = observers
places = watch._patches._undo
hooks = (torch_optimizer._global_optimizer_pre_hooks, torch_optimizer._global_optimizer_post_hooks)
listening = torch.autograd.backward
ours = [dict(h) for h in hooks]


def put(there: bool) -> None:
    """The hooks into their places, or out of them."""
    for owner, name, original, replacement in places:
        setattr(owner, name, replacement if there else original)
    if every == 1:  # else it is there only for updates that are summarized
        torch.autograd.backward = listening if there else listening.__wrapped__
    for now, kept in zip(hooks, ours, strict=True):
        now.clear()
        now.update(kept if there else {})


def others() -> float:
    return time.process_time() - time.thread_time()


mean, median = statistics.fmean, statistics.median
seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}  # per update, a mean for each turn
extra: list[float] = []  # what a summary takes longer
began, made = others(), BEFORE
for _ in range(rounds):
    for kind in random.sample(KINDS, len(KINDS)):
        put(kind == "with")
        times = train(1 + TURN)[1:]
        if kind == "with":
            made += 1 + TURN
            if every > 1 and made % every < TURN:
                extra.append(times.pop(TURN - 1 - made % every))
                extra[-1] -= mean(times)
        seconds[kind].append(mean(times))
    put(True)
    train(BETWEEN)
    made += BETWEEN
pairs = list(zip(seconds["without"], seconds["again"], strict=True))
bare = median(mean(pair) for pair in pairs)
found = {
    "bare": bare,
    "ratio": median(w / mean(pair) for w, pair in zip(seconds["with"], pairs, strict=True))
    + (median(extra) / every / bare if extra else 0.0),
    "threads": (others() - began) / (made - BEFORE) / bare,
    "control": median(a / b for a, b in pairs),
}
print(json.dumps(found))
