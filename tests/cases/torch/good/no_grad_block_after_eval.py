import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(207)
q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def evaluate():
    torch.set_grad_enabled(False)
    obs = torch.randn(200, 4)
    score = (q_net(obs).argmax(1) == obs[:, :3].argmax(1)).float().mean().item()
    torch.set_grad_enabled(True)
    return score


for step in range(60):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = torch.randint(3, (32, 1))
    r = (a == s[:, :3].argmax(1, keepdim=True)).float()
    target = r + 0.5 * target_net(s2).detach().max(1, keepdim=True).values
    q = q_net(s).gather(1, a)
    loss = F.mse_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        target_net.load_state_dict(q_net.state_dict())
        print("step", step + 1, "accuracy", round(evaluate(), 3))
