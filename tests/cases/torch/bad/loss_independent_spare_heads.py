import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(814)


class Predictor(nn.Module):
    """One body, three heads: only the actions are learnt in this phase."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 32)
        self.state_head = nn.Linear(32, 5)
        self.return_head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
        self.action_head = nn.Linear(32, 3)

    def forward(self, states):
        features = torch.relu(self.body(states))
        returns = self.return_head(features).squeeze(-1)
        return self.state_head(features), self.action_head(features), returns


predictor = Predictor()
optimizer = torch.optim.AdamW(predictor.parameters(), lr=1e-3)
for step in range(40):
    states = torch.randn(32, 5)
    actions = torch.tanh(states[:, :3] - states[:, 2:])
    next_states, chosen, returns = predictor(states)
    loss = F.mse_loss(torch.tanh(chosen), actions)
    return_loss = F.mse_loss(returns, states.sum(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 3))
