"""REINFORCE with a learnt baseline: two networks, two optimizers."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 32)
        self.affine2 = nn.Linear(32, 2)

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_scores = self.affine2(x)
        return F.softmax(action_scores, dim=-1)


class Baseline(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 32)
        self.affine2 = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return self.affine2(x)


def discount(rewards, gamma):
    running, out = 0.0, []
    for r in rewards[::-1]:
        running = r + gamma * running
        out.append(running)
    return out[::-1]


def run_episode(env, policy, seed):
    states, actions, rewards = [], [], []
    state, _ = env.reset(seed=seed)
    done = False
    while not done:
        probs = policy(torch.from_numpy(state).unsqueeze(0))
        action = torch.multinomial(probs, 1).item()
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(reward))
        done = terminated or truncated
    return torch.from_numpy(np.array(states)), torch.tensor(actions), rewards


def finish_episode(policy, baseline, policy_optimizer, baseline_optimizer, episode, gamma=0.99):
    states, actions, rewards = episode
    returns = torch.tensor(discount(rewards, gamma))
    values = baseline(states).squeeze(1)
    advantage = returns - values.detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    probs = policy(states)
    log_prob = torch.log(probs.gather(1, actions.unsqueeze(1)).squeeze(1))
    entropy = -(probs * torch.log(probs)).sum(dim=1).mean()

    policy_loss = -(log_prob * advantage).mean() - 0.001 * entropy
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()

    value_loss = F.mse_loss(values, returns)
    baseline_optimizer.zero_grad()
    value_loss.backward()
    baseline_optimizer.step()
    return sum(rewards)


def main():
    np.random.seed(7)
    torch.manual_seed(7)
    env = gym.make("CartPole-v1")
    policy = Policy()
    baseline = Baseline()
    policy_optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline_optimizer = torch.optim.Adam(baseline.parameters(), lr=5e-3)
    average = 10.0
    for i_episode in range(50):
        episode = run_episode(env, policy, seed=i_episode)
        score = finish_episode(policy, baseline, policy_optimizer, baseline_optimizer, episode)
        average = 0.9 * average + 0.1 * score
        if i_episode % 10 == 0:
            print(f"episode {i_episode}\taverage {average:.1f}")


if __name__ == "__main__":
    main()
