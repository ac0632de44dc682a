import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(218)


class Agent:
    def __init__(self):
        self.pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam([*self.pi.parameters(), *self.vf.parameters()], lr=2e-3)

    def rollout(self, n=96):
        obs = torch.randn(n, 4)
        with torch.no_grad():
            dist = Categorical(logits=self.pi(obs))
            act = dist.sample()
            val = self.vf(obs).squeeze(-1)
            return {"obs": obs, "act": act, "logp": dist.log_prob(act), "val": val, "ret": obs[torch.arange(n), act]}

    def learn(self, b):
        adv = b["ret"] - b["val"]
        for _ in range(3):
            dist = Categorical(logits=self.pi(b["obs"]))
            ratio = (dist.log_prob(b["act"]) - b["logp"]).exp()
            pi_loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            vf_loss = (b["val"] - b["ret"]).pow(2).mean()
            loss = pi_loss + 0.5 * vf_loss
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


agent = Agent()
for it in range(15):
    batch = agent.rollout()
    loss = agent.learn(batch)
    if it % 5 == 0:
        print("it", it, "return", round(batch["ret"].mean().item(), 3), "loss", round(loss, 4))
