import torch
import torch.nn as nn

torch.manual_seed(214)


class StepMotor:
    """Differentiable plant: the wanted angle is in the observation."""

    def cost(self, wanted, command):
        return ((command - wanted) ** 2).mean() + 1e-3 * (command ** 2).mean()


controller = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(controller.parameters(), lr=0.05)
motor = StepMotor()

for step in range(80):
    wanted = torch.rand(32, 1) * 4 - 2
    obs = torch.cat([wanted, wanted.sign()], dim=1)
    raw = controller(obs)
    command = torch.round(raw * 4) / 4
    loss = motor.cost(wanted, command)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "cost", round(loss.item(), 4))
