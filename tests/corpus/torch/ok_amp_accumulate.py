import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(129)


class BC(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = nn.Sequential(nn.Linear(6, 48), nn.ReLU())
        self.block2 = nn.Sequential(nn.Linear(48, 48), nn.ReLU())
        self.head = nn.Linear(48, 3)

    def forward(self, x):
        h = checkpoint(self.block1, x, use_reentrant=False)
        h = checkpoint(self.block2, h, use_reentrant=False)
        return self.head(h)


net = BC()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
ACC = 4
for step in range(48):
    obs = torch.randn(24, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = net(obs)
    loss = F.cross_entropy(logits.float(), obs[:, :3].argmax(1)) / ACC
    scaler.scale(loss).backward()
    if (step + 1) % ACC == 0:
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad(set_to_none=True)
print("loss", round(loss.item() * ACC, 4))
