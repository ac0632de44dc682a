"""Lightning with automatic optimization: REINFORCE on a batch."""

import logging
import zlib

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Reinforce(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))

    def training_step(self, batch, index):
        (state,) = batch
        policy = torch.distributions.Categorical(logits=self.policy(state))
        action = policy.sample()
        reward = (action == (state[:, 0] > 0).long()).float()
        surrogate = policy.log_prob(action) * (reward - reward.mean())
        return -surrogate.mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


lightning.seed_everything(0, verbose=False)
model = Reinforce()
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", **quiet)
trainer.fit(model, DataLoader(TensorDataset(torch.randn(1280, 4)), batch_size=32))
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.parameters())))
