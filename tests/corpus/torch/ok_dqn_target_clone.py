import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(133)
random.seed(133)


class QTrainer:
    def __init__(self, model, lr=1e-3, gamma=0.9):
        self.model, self.gamma = model, gamma
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def train_step(self, state, action, reward, next_state, done):
        pred = self.model(state)
        target = pred.clone().detach()
        for i in range(len(done)):
            q_new = reward[i]
            if not done[i]:
                q_new = reward[i] + self.gamma * torch.max(self.model(next_state[i])).item()
            target[i][action[i]] = q_new
        self.optimizer.zero_grad()
        loss = self.criterion(pred, target)
        loss.backward()
        self.optimizer.step()
        return loss.item()


model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3))
trainer = QTrainer(model)
for game in range(25):
    state, nxt = torch.randn(12, 5), torch.randn(12, 5)
    action = [random.randrange(3) if random.random() < 0.3 else int(model(s).argmax()) for s in state]
    reward = [float(s[:3].argmax() == a) for s, a in zip(state, action)]
    loss = trainer.train_step(state, action, reward, nxt, [random.random() < 0.1 for _ in range(12)])
print("loss", round(loss, 4))
