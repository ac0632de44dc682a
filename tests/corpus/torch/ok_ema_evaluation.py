import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(118)
policy = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
ema = AveragedModel(policy, multi_avg_fn=get_ema_multi_avg_fn(0.95))
opt = torch.optim.AdamW(policy.parameters(), lr=3e-3)


@torch.no_grad()
def evaluate(net):
    net.eval()
    obs = torch.randn(200, 5)
    acc = (net(obs).argmax(1) == obs[:, :3].argmax(1)).float().mean().item()
    net.train()
    return acc


best = 0.0
for epoch in range(40):
    obs = torch.randn(64, 5)
    loss = F.cross_entropy(policy(obs), obs[:, :3].argmax(1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    ema.update_parameters(policy)
    if epoch % 10 == 9:
        best = max(best, evaluate(ema))
        print("epoch", epoch, "ema accuracy", round(best, 3), "raw", round(evaluate(policy), 3))
