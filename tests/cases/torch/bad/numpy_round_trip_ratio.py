import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


def main():
    model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for i in range(60):
        s = torch.randn(32, 3)
        adv = torch.randn(32)
        logits = model(s)
        logp = F.log_softmax(logits, -1)
        a = torch.randint(2, (32,))
        old = logp.gather(1, a[:, None]).squeeze(1).detach()
        new = logp.gather(1, a[:, None]).squeeze(1)
        ratio = torch.from_numpy(np.exp(new.detach().numpy() - old.numpy()))
        clipped = ratio.clamp(0.8, 1.2)
        pg = -torch.min(ratio * adv, clipped * adv).mean()
        ent = -(logp.exp() * logp).sum(-1).mean()
        loss = pg - 0.01 * ent
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
