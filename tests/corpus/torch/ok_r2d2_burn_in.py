import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(135)


class RQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 16, batch_first=True)
        self.q = nn.Linear(16, 2)

    def forward(self, x, state=None):
        y, state = self.lstm(x, state)
        return self.q(y), state


net = RQ()
target = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
stored = None
for it in range(25):
    obs = torch.randn(8, 10, 3)
    act = torch.randint(2, (8, 10))
    rew = (act == (obs[..., 0].cumsum(1) > 0)).float()
    burn, learn = obs[:, :4], obs[:, 4:]
    with torch.no_grad():
        _, state = net(burn, stored)
        _, t_state = target(burn, stored)
    q, last = net(learn, state)
    with torch.no_grad():
        tq, _ = target(learn, t_state)
        y = rew[:, 4:-1] + 0.9 * tq[:, 1:].max(-1).values
    chosen = q[:, :-1].gather(-1, act[:, 4:-1, None]).squeeze(-1)
    loss = F.smooth_l1_loss(chosen, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    stored = tuple(h.detach() for h in last)
    if it % 5 == 0:
        target.load_state_dict(net.state_dict())
print("loss", round(loss.item(), 4))
