"""DDPG of TorchRL with the weights of the critic in both optimizers."""

import zlib

import torch
from tensordict import TensorDict
from torch import nn
from torchrl.modules import Actor, ValueOperator
from torchrl.objectives import DDPGLoss, SoftUpdate

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, observation, action):
        return self.net(torch.cat([observation, action], -1))


actor = Actor(nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh()), in_keys=["observation"])
critic = ValueOperator(Critic(), in_keys=["observation", "action"])
losses = DDPGLoss(actor, critic, delay_actor=True, delay_value=True)
losses.make_value_estimator(gamma=0.99)
updater = SoftUpdate(losses, tau=0.01)
of_actor = torch.optim.Adam(critic.parameters(), 1e-4)
of_critic = torch.optim.Adam(critic.parameters(), 1e-3)

for _ in range(150):
    state, action = torch.randn(64, 4), torch.rand(64, 2) * 2 - 1
    done = torch.rand(64, 1) < 0.05
    reward = -(action.sum(-1, keepdim=True) - state[:, :1]).pow(2)
    after = {"observation": torch.randn(64, 4), "reward": reward, "done": done, "terminated": done}
    found = losses(TensorDict({"observation": state, "action": action, "next": after}, [64]))
    of_critic.zero_grad()
    of_actor.zero_grad()
    (found["loss_value"] + found["loss_actor"]).backward()
    of_critic.step()
    of_actor.step()
    updater.step()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in losses.parameters())))
