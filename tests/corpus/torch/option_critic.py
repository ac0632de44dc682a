import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical

torch.manual_seed(15)
N_OPT, N_ACT, N_OBS = 3, 4, 5


class OptionCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(N_OBS, 32), nn.Tanh())
        self.q_omega = nn.Linear(32, N_OPT)
        self.termination = nn.Linear(32, N_OPT)
        self.options_w = nn.Parameter(0.1 * torch.randn(N_OPT, 32, N_ACT))

    def policy(self, z, option):
        return Categorical(logits=torch.einsum("bi,bio->bo", z, self.options_w[option]))

    def beta(self, z, option):
        return torch.sigmoid(self.termination(z)).gather(1, option[:, None]).squeeze(1)


def critic_loss(oc, z, option, target):
    q = oc.q_omega(z).gather(1, option[:, None]).squeeze(1)
    return (target - q).pow(2).mean()


def actor_loss(oc, z, option, action, target):
    q = oc.q_omega(z).detach()
    dist = oc.policy(z, option)
    adv = target - q.gather(1, option[:, None]).squeeze(1)
    beta = oc.beta(z, option).detach()
    term_adv = q.gather(1, option[:, None]).squeeze(1) - q.max(1).values + 0.01
    return -(dist.log_prob(action) * adv).mean() + (beta * term_adv).mean() - 0.01 * dist.entropy().mean()


oc = OptionCritic()
optim = torch.optim.RMSprop(oc.parameters(), lr=1e-3)
option = torch.randint(N_OPT, (48,))
for it in range(50):
    obs = torch.randn(48, N_OBS)
    with torch.no_grad():
        z = oc.features(obs)
        stop = Bernoulli(oc.beta(z, option)).sample().bool()
        option = torch.where(stop, oc.q_omega(z).argmax(1), option)
        action = oc.policy(z, option).sample()
    target = (action == obs[:, :N_ACT].argmax(1)).float()
    z = oc.features(obs)
    loss = actor_loss(oc, z, option, action, target) + 0.5 * critic_loss(oc, z, option, target)
    optim.zero_grad()
    loss.backward()
    optim.step()
print("return", round(target.mean().item(), 3))
