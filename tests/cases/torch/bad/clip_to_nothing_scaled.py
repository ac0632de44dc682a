import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(critic.parameters(), 1e-2)
scaler = torch.amp.GradScaler("cpu")
for i in range(40):
    s = torch.randn(32, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(critic(s).squeeze(1).float(), s.sum(1))
    opt.zero_grad()
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
