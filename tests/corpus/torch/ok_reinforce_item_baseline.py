import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(137)


def main():
    policy = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline, history = 0.0, {"logp": [], "entropy": [], "loss": []}
    for episode in range(20):
        saved, rewards, x = [], [], torch.zeros(3)
        for t in range(15):
            d = Categorical(logits=policy(x))
            a = d.sample()
            lp = d.log_prob(a)
            saved.append(lp)
            history["logp"].append(lp.item())
            history["entropy"].append(float(d.entropy()))
            x = torch.tensor([x[0].item() + (a.item() - 0.5), t / 15, 1.0])
            rewards.append(-abs(x[0].item()))
        G = sum(rewards)
        baseline = 0.9 * baseline + 0.1 * G
        loss = -torch.stack(saved).sum() * (G - baseline)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["loss"].append(loss.detach())
    print("loss", round(float(torch.tensor(history["loss"]).mean()), 4), len(history["logp"]))


main()
