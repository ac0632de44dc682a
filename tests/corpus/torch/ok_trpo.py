import torch
import torch.nn as nn
from torch.distributions import Categorical, kl_divergence
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(128)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
vopt = torch.optim.LBFGS(value.parameters(), lr=0.1, max_iter=5)


def flat(xs):
    return torch.cat([x.reshape(-1) for x in xs])


def conjugate_gradient(Ax, b, n=6):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rr = r @ r
    for _ in range(n):
        z = Ax(p)
        alpha = rr / (p @ z + 1e-8)
        x, r = x + alpha * p, r - alpha * z
        new = r @ r
        p, rr = r + new / (rr + 1e-10) * p, new
    return x


for it in range(6):
    obs = torch.randn(128, 4)
    with torch.no_grad():
        old = Categorical(logits=policy(obs))
        act = old.sample()
        old_logp = old.log_prob(act)
    ret = obs.gather(1, act[:, None]).squeeze(1)
    adv = ret - value(obs).squeeze(1).detach()
    params = list(policy.parameters())

    def surrogate():
        return ((Categorical(logits=policy(obs)).log_prob(act) - old_logp).exp() * adv).mean()

    def fvp(v):
        kl = kl_divergence(old, Categorical(logits=policy(obs))).mean()
        g = flat(torch.autograd.grad(kl, params, create_graph=True))
        return flat(torch.autograd.grad(g @ v, params)).detach() + 0.1 * v

    before = surrogate()
    g = flat(torch.autograd.grad(before, params)).detach()
    step = conjugate_gradient(fvp, g)
    step = step * torch.sqrt(0.02 / (step @ fvp(step) + 1e-8))
    theta = parameters_to_vector(params).detach()
    for frac in (1.0, 0.5, 0.25):
        vector_to_parameters(theta + frac * step, params)
        with torch.no_grad():
            if surrogate() > before:
                break
    else:
        vector_to_parameters(theta, params)

    def closure():
        vopt.zero_grad()
        loss = (value(obs).squeeze(1) - ret).pow(2).mean()
        loss.backward()
        return loss

    vloss = vopt.step(closure)
    print("it", it, "return", round(ret.mean().item(), 3), "value loss", round(vloss.item(), 3))
