import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(213)
N_OBS, N_ACT = 4, 3


class Planner:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(N_OBS, 32), nn.Tanh(), nn.Linear(32, N_ACT))
        self.reward_model = nn.Sequential(nn.Linear(N_OBS + N_ACT, 32), nn.Tanh(), nn.Linear(32, 1))
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.model_opt = torch.optim.Adam(self.reward_model.parameters(), lr=3e-3)

    def act(self, obs):
        logits = self.policy(obs)
        return F.one_hot(logits.argmax(dim=-1), N_ACT).float()

    def fit_model(self, obs, act, rew):
        loss = F.mse_loss(self.reward_model(torch.cat([obs, act], -1)), rew)
        self.model_opt.zero_grad()
        loss.backward()
        self.model_opt.step()
        return loss.item()

    def improve(self, obs):
        loss = -self.reward_model(torch.cat([obs, self.act(obs)], -1)).mean()
        self.policy_opt.zero_grad()
        loss.backward()
        self.policy_opt.step()
        return loss.item()


planner = Planner()
for it in range(60):
    obs = torch.randn(64, N_OBS)
    act = F.one_hot(torch.randint(N_ACT, (64,)), N_ACT).float()
    rew = (act * obs[:, :N_ACT]).sum(-1, keepdim=True)
    model_loss = planner.fit_model(obs, act, rew)
    policy_loss = planner.improve(obs)
    if it % 15 == 0:
        print(f"it {it} model {model_loss:.3f} policy {policy_loss:.3f}")
