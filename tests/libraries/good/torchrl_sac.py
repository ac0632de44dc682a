"""SAC of TorchRL with its target updater."""

import zlib

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from tensordict.nn.distributions import NormalParamExtractor
from torch import nn
from torchrl.data import Bounded
from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import SACLoss, SoftUpdate

torch.manual_seed(0)
STATE, ACTION = 4, 2
body = nn.Sequential(nn.Linear(STATE, 32), nn.ReLU(), nn.Linear(32, 2 * ACTION), NormalParamExtractor())
actor = ProbabilisticActor(
    TensorDictModule(body, in_keys=["observation"], out_keys=["loc", "scale"]),
    in_keys=["loc", "scale"],
    spec=Bounded(-1, 1, (ACTION,)),
    distribution_class=TanhNormal,
    return_log_prob=True,
)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE + ACTION, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, observation, action):
        return self.net(torch.cat([observation, action], -1))


critic = ValueOperator(Critic(), in_keys=["observation", "action"])
losses = SACLoss(actor, critic, num_qvalue_nets=2)
losses.make_value_estimator(gamma=0.99)
updater = SoftUpdate(losses, tau=0.005)
optimizer = torch.optim.Adam(losses.parameters(), 3e-4)

for _ in range(150):
    state, action = torch.randn(64, STATE), torch.rand(64, ACTION) * 2 - 1
    done = torch.rand(64, 1) < 0.05
    after = {
        "observation": state + 0.1 * torch.randn(64, STATE),
        "reward": -(action.sum(-1, keepdim=True) - state[:, :1]).pow(2),
        "done": done,
        "terminated": done,
    }
    found = losses(TensorDict({"observation": state, "action": action, "next": after}, [64]))
    loss = found["loss_actor"] + found["loss_qvalue"] + found["loss_alpha"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    updater.step()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in losses.parameters())))
