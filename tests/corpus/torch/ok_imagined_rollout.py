"""An actor that takes each imagined state for a fact; the model of the world carries the gradient on."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(53)


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 24), nn.ELU(), nn.Linear(24, outputs))


def main(updates=40, horizon=5):
    world, payoff, actor = mlp(5, 4), mlp(4, 1), mlp(4, 1)
    model_opt = torch.optim.Adam([*world.parameters(), *payoff.parameters()], 2e-3)
    actor_opt = torch.optim.Adam(actor.parameters(), 1e-3)
    for update in range(updates):
        state, action = torch.randn(32, 4), torch.rand(32, 1) * 2 - 1
        following = 0.9 * state + 0.1 * action
        guess = world(torch.cat([state, action], 1))
        model_loss = F.mse_loss(guess, following) + F.mse_loss(payoff(guess), -following.pow(2).sum(1, keepdim=True))
        model_opt.zero_grad()
        model_loss.backward()
        model_opt.step()

        total = 0.0
        for _ in range(horizon):
            action = torch.tanh(actor(state.detach()))
            state = world(torch.cat([state, action], 1))
            total = total + payoff(state).mean()
        actor_opt.zero_grad()
        (-total).backward()
        actor_opt.step()
        if update % 10 == 0:
            print(update, round(model_loss.item(), 4), round(float(total), 4))


if __name__ == "__main__":
    main()
