import torch
from torch import nn
from torch.autograd import Variable

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for i in range(30):
    x, r = torch.randn(8, 4), torch.randn(8)
    dist = torch.distributions.Categorical(logits=net(x))
    a = dist.sample()
    loss = (-dist.log_prob(a) * r).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
