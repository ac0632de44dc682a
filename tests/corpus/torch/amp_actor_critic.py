import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(10)
actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)

for it in range(40):
    obs = torch.randn(64, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = actor(obs)
        value = critic(obs).squeeze(-1)
    dist = Categorical(logits=logits.float())
    act = dist.sample()
    reward = (act == obs[:, :3].argmax(1)).float()
    adv = reward - value.detach().float()
    actor_loss = -(dist.log_prob(act) * adv).mean()
    critic_loss = F.mse_loss(value.float(), reward)
    actor_opt.zero_grad(set_to_none=True)
    critic_opt.zero_grad(set_to_none=True)
    scaler.scale(actor_loss).backward()
    scaler.scale(critic_loss).backward()
    scaler.unscale_(actor_opt)
    nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
    scaler.step(actor_opt)
    scaler.update()
    if it % 10 == 0:
        print("it", it, "critic loss", round(critic_loss.item(), 4), "scale", scaler.get_scale())
