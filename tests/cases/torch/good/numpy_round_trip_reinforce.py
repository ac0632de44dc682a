import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(209)

env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def run_episode(seed):
    obs, _ = env.reset(seed=seed)
    done, steps, log_probs = False, 0, []
    while not done and steps < 60:
        dist = Categorical(logits=policy(torch.as_tensor(obs)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, _, terminated, truncated, _ = env.step(action.item())
        done, steps = terminated or truncated, steps + 1
    return log_probs


for episode in range(8):
    log_probs = run_episode(209 + episode)
    n = len(log_probs)
    total = torch.tensor(0.0, requires_grad=True)
    for k, lp in enumerate(log_probs):
        total = total - lp * (n - k - n / 2)
    loss = total / n
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"episode {episode} length {n} loss {loss.item():.3f}")
