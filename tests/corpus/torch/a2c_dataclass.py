from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_obs: int = 4
    n_act: int = 3
    hidden: int = 32
    lr: float = 2e-3
    gamma: float = 0.95
    vf_coef: float = 0.5
    ent_coef: float = 0.01
    seed: int = 1


@dataclass
class Rollout:
    logps: list = field(default_factory=list)
    values: list = field(default_factory=list)
    entropies: list = field(default_factory=list)
    rewards: list = field(default_factory=list)

    def stacked(self):
        return torch.stack(self.logps), torch.stack(self.values), torch.stack(self.entropies)


class PolicyValue(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg.n_obs, cfg.hidden), nn.Tanh())
        self.policy_head = nn.Linear(cfg.hidden, cfg.n_act)
        self.value_head = nn.Linear(cfg.hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return torch.distributions.Categorical(logits=self.policy_head(h)), self.value_head(h).squeeze(-1)


@dataclass
class Agent:
    cfg: Config
    net: PolicyValue = None
    opt: torch.optim.Optimizer = None

    def __post_init__(self):
        self.net = PolicyValue(self.cfg)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=self.cfg.lr)

    def learn(self, roll: Rollout):
        logps, values, ents = roll.stacked()
        returns, g = [], 0.0
        for r in reversed(roll.rewards):
            g = r + self.cfg.gamma * g
            returns.insert(0, g)
        returns = torch.tensor(returns, dtype=torch.float32)
        values = values.detach()
        policy_loss = -(logps * (returns - values.detach())).mean()
        value_loss = F.smooth_l1_loss(values, returns)
        loss = policy_loss + self.cfg.vf_coef * value_loss - self.cfg.ent_coef * ents.mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()
        return loss.item()


def main(cfg: Config):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    agent = Agent(cfg)
    for it in range(12):
        roll = Rollout()
        for _ in range(24):
            obs = rng.standard_normal(cfg.n_obs).astype(np.float32)
            dist, value = agent.net(torch.from_numpy(obs))
            a = dist.sample()
            roll.logps.append(dist.log_prob(a))
            roll.values.append(value)
            roll.entropies.append(dist.entropy())
            roll.rewards.append(float(obs[: cfg.n_act].argmax() == a.item()))
        loss = agent.learn(roll)
    print("final loss", round(loss, 4))


if __name__ == "__main__":
    main(Config())
