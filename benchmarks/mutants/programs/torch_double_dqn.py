"""Double DQN with a dueling network and soft target updates; everything inside of main()."""

import copy
import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

GAMMA = 0.99
TAU = 0.02
BATCH = 32
LR = 5e-4
device = torch.device("cpu")


class DuelingNet(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(state_dim, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.value = nn.Linear(48, 1)
        self.advantage = nn.Linear(48, action_dim)

    def forward(self, state):
        h = self.feature(state)
        v = self.value(h)
        a = self.advantage(h)
        return v + a - a.mean(dim=1, keepdim=True)


class ReplayBuffer:
    def __init__(self, size):
        self.size, self.data = size, []

    def push(self, item):
        self.data.append(item)
        if len(self.data) > self.size:
            self.data.pop(0)

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.data, n))
        return (
            torch.tensor(np.array(s), dtype=torch.float32, device=device),
            torch.tensor(a, device=device).unsqueeze(1),
            torch.tensor(r, dtype=torch.float32, device=device).unsqueeze(1),
            torch.tensor(np.array(s2), dtype=torch.float32, device=device),
            torch.tensor(d, dtype=torch.float32, device=device).unsqueeze(1),
        )


def soft_update(target, source, tau):
    for target_param, param in zip(target.parameters(), source.parameters()):
        target_param.data.copy_(tau * param.data + (1.0 - tau) * target_param.data)


def main():
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    env = gym.make("CartPole-v1")
    policy_net = DuelingNet(4, 2).to(device)
    target_net = copy.deepcopy(policy_net)
    optimizer = torch.optim.AdamW(policy_net.parameters(), lr=LR)
    buffer = ReplayBuffer(5000)
    steps = 0
    for episode in range(14):
        obs, _ = env.reset(seed=100 + episode)
        done = False
        while not done:
            steps += 1
            if random.random() < max(0.05, 1.0 - steps / 200):
                action = random.randrange(2)
            else:
                with torch.no_grad():
                    action = policy_net(torch.tensor(obs, device=device).unsqueeze(0)).argmax(1).item()
            next_obs, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            buffer.push((obs, action, reward, next_obs, float(terminated)))
            obs = next_obs
            if len(buffer.data) < 100:
                continue
            states, actions, rewards, next_states, dones = buffer.sample(BATCH)
            q = policy_net(states).gather(1, actions)
            with torch.no_grad():
                best = policy_net(next_states).argmax(dim=1, keepdim=True)
                q_next = target_net(next_states).gather(1, best)
                y = rewards + GAMMA * q_next * (1.0 - dones)
            loss = F.smooth_l1_loss(q, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            soft_update(target_net, policy_net, TAU)
        print("episode", episode, "steps", steps)


if __name__ == "__main__":
    main()
