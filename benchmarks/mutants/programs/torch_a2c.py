"""Advantage actor-critic, n steps, one network with two heads and dropout in its trunk."""

import argparse

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, num_outputs, hidden_size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(num_inputs, hidden_size), nn.Tanh(), nn.Dropout(0.05))
        self.actor_head = nn.Linear(hidden_size, num_outputs)
        self.critic_head = nn.Linear(hidden_size, 1)

    def forward(self, x):
        features = self.body(x)
        logits = self.actor_head(features)
        value = self.critic_head(features)
        return Categorical(logits=logits), value.squeeze(-1)


def compute_returns(next_value, rewards, masks, gamma):
    R = next_value
    returns = []
    for step in reversed(range(len(rewards))):
        R = rewards[step] + gamma * R * masks[step]
        returns.insert(0, R)
    return returns


class A2C:
    def __init__(self, args):
        self.args = args
        self.model = ActorCritic(4, 2, 48)
        self.optimizer = optim.Adam(self.model.parameters(), lr=args.lr)

    def learn(self, log_probs, values, entropies, rewards, masks, next_value):
        returns = compute_returns(next_value, rewards, masks, self.args.gamma)
        log_probs = torch.stack(log_probs)
        returns = torch.stack(returns).detach()
        values = torch.stack(values)
        entropy = torch.stack(entropies).mean()
        advantage = returns - values

        actor_loss = -(log_probs * advantage.detach()).mean()
        critic_loss = advantage.pow(2).mean()
        loss = actor_loss + 0.5 * critic_loss - 0.01 * entropy

        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=80)
    parser.add_argument("--n-steps", type=int, default=10)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    args = parser.parse_args()
    np.random.seed(5)
    torch.manual_seed(5)
    env = gym.make("CartPole-v1")
    agent = A2C(args)
    state, _ = env.reset(seed=5)
    for update in range(args.updates):
        log_probs, values, entropies, rewards, masks = [], [], [], [], []
        for _ in range(args.n_steps):
            dist, value = agent.model(torch.FloatTensor(state))
            action = dist.sample()
            next_state, reward, terminated, truncated, _ = env.step(action.item())
            log_probs.append(dist.log_prob(action))
            values.append(value)
            entropies.append(dist.entropy())
            rewards.append(reward)
            masks.append(1.0 - float(terminated))
            state = next_state
            if terminated or truncated:
                state, _ = env.reset()
        with torch.no_grad():
            _, next_value = agent.model(torch.FloatTensor(state))
        agent.learn(log_probs, values, entropies, rewards, masks, next_value)
    print("updates", update + 1)


if __name__ == "__main__":
    main()
