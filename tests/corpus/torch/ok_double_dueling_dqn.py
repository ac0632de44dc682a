import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 40), nn.ReLU())
        self.v = nn.Linear(40, 1)
        self.a = nn.Linear(40, 3)

    def forward(self, x):
        h = self.body(x)
        adv = self.a(h)
        return self.v(h) + adv - adv.mean(-1, keepdim=True)


def main():
    random.seed(103)
    np.random.seed(103)
    torch.manual_seed(103)
    online, target = Dueling(), Dueling()
    target.load_state_dict(online.state_dict())
    target.eval()
    opt = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay, s, loss = [], np.random.randn(4).astype(np.float32), None
    for t in range(160):
        eps = max(0.05, 1 - t / 100)
        with torch.no_grad():
            a = random.randrange(3) if random.random() < eps else online(torch.from_numpy(s)).argmax().item()
        s2 = np.random.randn(4).astype(np.float32)
        replay.append((s, a, float(s[:3].argmax() == a), s2, float(t % 10 == 9)))
        s = s2
        if len(replay) < 48:
            continue
        S, A, R, S2, D = (torch.as_tensor(np.array(x)) for x in zip(*random.sample(replay, 32)))
        q = online(S).gather(1, A.unsqueeze(1)).squeeze(1)
        best = online(S2).argmax(1)
        next_q = target(S2).gather(1, best.unsqueeze(1)).squeeze(1)
        y = R.float() + 0.9 * (1 - D.float()) * next_q.detach()
        loss = F.smooth_l1_loss(q, y)
        opt.zero_grad()
        loss.backward()
        for p in online.parameters():
            p.grad.data.clamp_(-1, 1)
        opt.step()
        if t % 30 == 0:
            target.load_state_dict(online.state_dict())
    print("loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
