"""Lightning with manual optimization: an actor and a critic."""

import logging
import zlib

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class ActorCritic(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, index):
        (state,) = batch
        of_actor, of_critic = self.optimizers()
        action = self.actor(state)
        value = self.critic(torch.cat([state, action.detach()], 1)).squeeze(1)
        loss = nn.functional.mse_loss(value, -(action.detach().sum(1) - state[:, 0]).pow(2))
        of_critic.zero_grad()
        self.manual_backward(loss)
        of_critic.step()
        action = self.actor(state)
        loss = -self.critic(torch.cat([state, action], 1)).mean()
        of_actor.zero_grad()
        self.manual_backward(loss)
        of_actor.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.actor.parameters(), 1e-3), torch.optim.Adam(self.critic.parameters(), 1e-3)


lightning.seed_everything(0, verbose=False)
model = ActorCritic()
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", **quiet)
trainer.fit(model, DataLoader(TensorDataset(torch.randn(1280, 4)), batch_size=32))
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.parameters())))
