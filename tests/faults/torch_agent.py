"""A small healthy agent that goes through as many of our doors as it can, and tells how it ended."""

import copy
import os
import sys
import threading
import traceback

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
random = np.random.default_rng(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
target = copy.deepcopy(critic)
actor = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
critic.head = nn.Identity()
critic.head = nn.Identity()
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
actor_opt = torch.optim.SGD(actor.parameters(), lr=1e-2)


def batch():
    states = torch.from_numpy(random.normal(size=(16, 4)).astype("float32"))
    rewards = torch.tensor(random.normal(size=(16, 1)).tolist())
    return states, rewards


def update(number):
    states, rewards = batch()
    following, _ = batch()
    with torch.no_grad():
        goal = rewards + 0.9 * target(following)
    loss = (critic(states) - goal).pow(2).mean()
    critic_opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    critic_opt.step()
    with torch.inference_mode():
        best = critic(states).mean().item()
    policy = torch.distributions.Categorical(logits=actor(states))
    actions = policy.sample()
    advantage = (rewards - critic(states)).detach().squeeze(1)
    actor_loss = -(policy.log_prob(actions) * advantage).mean()
    actor_opt.zero_grad(set_to_none=False)
    actor_loss.backward()
    nn.utils.clip_grad_value_(actor.parameters(), 10.0)
    actor_opt.step()
    if number % 4 == 0:
        target.load_state_dict(critic.state_dict())
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), critic.parameters(), strict=True):
            slow.mul_(0.99).add_(0.01 * fast)
    return best


def in_thread():
    print("thread", float(torch.ones(3, requires_grad=True).sum().detach()))


def fails():
    raise ValueError("a thread of the user's")


print("first", [round(update(n), 6) for n in range(12)])
bad = len(sys.argv) > 1
for work in (in_thread, fails) if bad else (in_thread,):
    worker = threading.Thread(target=work, name="worker")
    worker.start()
    worker.join()
try:
    torch.ones(2) @ torch.ones(3)
except RuntimeError:
    print(traceback.format_exc())
child = os.fork()
if child == 0:
    update(1)
    os._exit(0)
print("child", os.waitpid(child, 0)[1])
for name, net in (("actor", actor), ("critic", critic), ("target", target)):
    print(name, [p.detach().double().sum().item().hex() for p in net.parameters()])
if bad:
    raise KeyError("the user's own")
sys.exit(3)
