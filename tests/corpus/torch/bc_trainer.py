import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(18)


class Demos(Dataset):
    def __init__(self, n=256):
        self.obs = torch.randn(n, 5)
        self.act = self.obs[:, :3].argmax(1)

    def __len__(self):
        return len(self.obs)

    def __getitem__(self, i):
        return {"obs": self.obs[i], "act": self.act[i]}


class Trainer:
    def __init__(self, model, epochs=3):
        self.model, self.epochs = model, epochs
        self.loader = DataLoader(Demos(), batch_size=32, shuffle=True)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def compute_loss(self, batch):
        logits = self.model(batch["obs"])
        predicted = logits.argmax(dim=-1)
        wanted = batch["act"]
        return F.mse_loss(predicted.float(), wanted.float())

    def fit(self):
        for epoch in range(self.epochs):
            for batch in self.loader:
                loss = self.compute_loss(batch)
                loss.requires_grad_()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print("epoch", epoch, "loss", round(loss.item(), 4))


trainer = Trainer(nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3)))
trainer.fit()
