import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(81)


def train(updates=60, alpha=0.2):
    policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
    critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
    policy_opt = torch.optim.Adam(policy.parameters(), 1e-3)
    critic_opt = torch.optim.Adam(critic.parameters(), 1e-3)
    for update in range(updates):
        obs, act = torch.randn(32, 4), torch.randint(0, 3, (32, 1))
        reward = obs.gather(1, act)
        critic_loss = F.mse_loss(critic(obs).gather(1, act), reward)
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        log_p = F.log_softmax(policy(obs), dim=-1)
        with torch.no_grad():
            q = critic(obs)
        policy_loss = -(log_p.exp() * (q + alpha * log_p)).sum(1).mean()
        policy_opt.zero_grad()
        policy_loss.backward()
        policy_opt.step()
        if update % 20 == 0:
            print(update, round(policy_loss.item(), 4))


train()
