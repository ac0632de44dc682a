"""PPO of TorchRL whose actor is cut."""

import zlib

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from tensordict.nn.distributions import NormalParamExtractor
from torch import nn
from torchrl.data import Bounded
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4))
        self.split = NormalParamExtractor()

    def forward(self, observation):
        latent = self.body(observation).detach()
        return self.split(latent)


actor = ProbabilisticActor(
    TensorDictModule(Actor(), in_keys=["observation"], out_keys=["loc", "scale"]),
    in_keys=["loc", "scale"],
    spec=Bounded(-1, 1, (2,)),
    distribution_class=TanhNormal,
    return_log_prob=True,
)
value = ValueOperator(nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)), in_keys=["observation"])
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=value, average_gae=True)
losses = ClipPPOLoss(actor, value, clip_epsilon=0.2, entropy_bonus=True, entropy_coeff=1e-3)
optimizer = torch.optim.Adam(losses.parameters(), 3e-4)

for _ in range(15):
    with torch.no_grad():
        data = actor(TensorDict({"observation": torch.randn(64, 4)}, [64]))
    done = torch.rand(64, 1) < 0.05
    reward = -(data["action"].sum(-1, keepdim=True) - data["observation"][:, :1]).pow(2)
    after = {"observation": torch.randn(64, 4), "reward": reward, "done": done, "terminated": done}
    data["next"] = TensorDict(after, [64])
    for _ in range(4):
        advantage(data)
        found = losses(data)
        loss = found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(losses.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in losses.parameters())))
