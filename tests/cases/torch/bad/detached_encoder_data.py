import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(203)
rng = np.random.default_rng(203)


class ImageDQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(4 * 4 * 4, 4)

    def forward(self, img):
        features = self.encoder(img).data
        return self.head(features)


model = ImageDQN()
target = ImageDQN()
target.load_state_dict(model.state_dict())
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)

for step in range(60):
    img = Variable(torch.from_numpy(rng.random((32, 1, 6, 6), dtype=np.float32)))
    nxt = Variable(torch.from_numpy(rng.random((32, 1, 6, 6), dtype=np.float32)))
    action = torch.from_numpy(rng.integers(4, size=(32, 1)))
    reward = img[:, 0, 0, 0].unsqueeze(1)
    with torch.no_grad():
        y = reward + 0.9 * target(nxt).max(1, keepdim=True)[0]
    loss = F.smooth_l1_loss(model(img).gather(1, action), y)
    optimizer.zero_grad()
    loss.backward()
    for p in model.head.parameters():
        p.grad.data.clamp_(-1, 1)
    optimizer.step()
    if step % 20 == 0:
        target.load_state_dict(model.state_dict())
        print("step", step, "loss", round(loss.item(), 4))
