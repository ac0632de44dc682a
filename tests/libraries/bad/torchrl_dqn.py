"""DQN of TorchRL whose updater is never asked."""

import zlib

import torch
from tensordict import TensorDict
from torchrl.data import OneHot
from torchrl.modules import MLP, QValueActor
from torchrl.objectives import DQNLoss, HardUpdate

torch.manual_seed(0)
net = MLP(in_features=4, out_features=3, num_cells=[32])
actor = QValueActor(net, in_keys=["observation"], spec=OneHot(3))
losses = DQNLoss(actor, action_space=OneHot(3), delay_value=True)
updater = HardUpdate(losses, value_network_update_interval=20)
optimizer = torch.optim.Adam(losses.parameters(), 1e-3)
for _ in range(150):
    state = torch.randn(64, 4)
    action = torch.nn.functional.one_hot(torch.randint(0, 3, (64,)), 3)
    done = torch.rand(64, 1) < 0.1
    after = {"observation": torch.randn(64, 4), "reward": state[:, :1], "done": done, "terminated": done}
    loss = losses(TensorDict({"observation": state, "action": action, "next": after}, [64]))["loss"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    pass
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in losses.parameters())))
