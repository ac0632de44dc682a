import torch
import torch.nn as nn
from torch.distributions import Categorical


def main():
    torch.manual_seed(14)
    goal_embed = nn.Embedding(4, 8)
    actor = nn.Sequential(nn.Linear(4 + 8, 32), nn.Tanh(), nn.Linear(32, 4))
    critic = nn.Sequential(nn.Linear(4 + 8, 32), nn.Tanh(), nn.Linear(32, 1))
    actor_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
    critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)
    for it in range(50):
        obs, goal = torch.randn(64, 4), torch.randint(4, (64,))
        x = torch.cat([obs, goal_embed(goal)], dim=-1)
        dist, value = Categorical(logits=actor(x)), critic(x).squeeze(-1)
        act = dist.sample()
        reward = (act == goal).float() + 0.1 * obs[:, 0]
        actor_loss = -(dist.log_prob(act) * (reward - value).detach()).mean() - 0.01 * dist.entropy().mean()
        critic_loss = (reward - value).pow(2).mean()
        actor_opt.zero_grad()
        critic_opt.zero_grad()
        (actor_loss + critic_loss).backward()
        actor_opt.step()
        critic_opt.step()
    print("reward", round(reward.mean().item(), 3))


main()
