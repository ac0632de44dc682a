import torch
from torch import nn

torch.manual_seed(0)
lstm = nn.LSTM(4, 16)
head = nn.Linear(16, 2)
opt = torch.optim.Adam([*lstm.parameters(), *head.parameters()], 1e-2)
for ep in range(40):
    state = (torch.zeros(1, 1, 16), torch.zeros(1, 1, 16))
    logps, rewards = [], []
    first = torch.randn(1, 1, 4)
    for t in range(6):
        x = first if t == 0 else torch.randn(1, 1, 4)
        out, state = lstm(x, state)
        dist = torch.distributions.Categorical(logits=head(out[0, 0]))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        rewards.append(float(a == int(first.sum() > 0)))
    loss = -(torch.stack(logps) * (torch.tensor(rewards) - 0.5)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
