"""DDPG on a little tracking task, as people write it. It runs, the critic learns, the actor never does.

    python examples/broken_actor_critic.py          nothing looks wrong, the return just stays low
    whygrad run examples/broken_actor_critic.py     says why, and on which line

The actor's loss has a second term (it keeps actions small), so the actor's gradients are not None and not
zero, and the usual checks pass.
"""

import argparse
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class TrackingEnv:
    """Push a point to a goal on a line. The best return is close to 0."""

    def __init__(self, steps=20):
        self.steps = steps

    def reset(self):
        self.position, self.goal, self.t = random.uniform(-1, 1), random.uniform(-1, 1), 0
        return self._state()

    def step(self, action):
        self.position += 0.3 * max(-1.0, min(1.0, action))
        self.t += 1
        reward = -abs(self.position - self.goal)
        return self._state(), reward, self.t >= self.steps

    def _state(self):
        return torch.tensor([self.position, self.goal, self.t / self.steps])


class Actor(nn.Module):
    def __init__(self, state_dim=3, action_dim=1, hidden=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(state_dim, hidden), nn.ReLU(), nn.Linear(hidden, action_dim), nn.Tanh()
        )

    def forward(self, state):
        return self.net(state)


class Critic(nn.Module):
    def __init__(self, state_dim=3, action_dim=1, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim + action_dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], dim=-1))


class Agent:
    def __init__(self, lr=1e-3, gamma=0.95, tau=0.01):
        self.gamma, self.tau = gamma, tau
        self.actor, self.critic = Actor(), Critic()
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def act(self, state, noise=0.2):
        with torch.no_grad():
            return self.actor(state).item() + random.gauss(0.0, noise)

    def update(self, batch):
        state, action, reward, next_state, done = batch

        with torch.no_grad():
            next_q = self.critic_target(next_state, self.actor_target(next_state))
            target_q = reward + self.gamma * (1.0 - done) * next_q
        critic_loss = F.mse_loss(self.critic(state, action), target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        policy_action = self.actor(state)
        q_value = self.critic(state, policy_action.detach())  # "don't train the critic here"
        actor_loss = -q_value.mean() + 1e-3 * policy_action.pow(2).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        self._follow(self.actor_target, self.actor)
        self._follow(self.critic_target, self.critic)
        return critic_loss.item(), actor_loss.item()

    def _follow(self, target, online):
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), online.parameters(), strict=True):
                slow.lerp_(fast, self.tau)


def sample(memory, batch_size):
    state, action, reward, next_state, done = zip(*random.sample(memory, batch_size), strict=True)
    return (
        torch.stack(state),
        torch.tensor(action).unsqueeze(1),
        torch.tensor(reward).unsqueeze(1),
        torch.stack(next_state),
        torch.tensor(done, dtype=torch.float32).unsqueeze(1),
    )


def train(episodes=60, batch_size=32, seed=0):
    random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the networks are tiny
    env, agent, memory = TrackingEnv(), Agent(), deque(maxlen=5_000)
    for episode in range(1, episodes + 1):
        state, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(state)
            next_state, reward, done = env.step(action)
            memory.append((state, action, reward, next_state, done))
            state, total = next_state, total + reward
            if len(memory) >= 4 * batch_size:
                critic_loss, _actor_loss = agent.update(sample(memory, batch_size))
        if episode % 10 == 0:
            print(f"episode {episode:3d}  return {total:7.2f}  critic loss {critic_loss:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    train(args.episodes, seed=args.seed)
