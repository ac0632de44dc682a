"""PPO as a plain single-file loop, the way CleanRL and most tutorials write it, with agents/ppo.py's settings."""

import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions.categorical import Categorical

torch.set_num_threads(1)
NUM_ENVS, NUM_STEPS, EPOCHS, MINIBATCH = 8, 32, 20, 256
GAMMA, GAE_LAMBDA = 0.98, 0.8


def layer_init(layer, std=2**0.5):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, 0.0)
    return layer


def mlp(out, std):
    return nn.Sequential(
        layer_init(nn.Linear(4, 64)),
        nn.Tanh(),
        layer_init(nn.Linear(64, 64)),
        nn.Tanh(),
        layer_init(nn.Linear(64, out), std),
    )


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = mlp(1, 1.0), mlp(2, 0.01)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


steps = int(sys.argv[1])
np.random.seed(1)
torch.manual_seed(1)
envs = gym.vector.SyncVectorEnv(
    [lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1")) for _ in range(NUM_ENVS)],
    autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
)
agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
obs = torch.zeros((NUM_STEPS, NUM_ENVS, 4))
actions, logprobs, rewards, dones, values = (torch.zeros((NUM_STEPS, NUM_ENVS)) for _ in range(5))

wall, cpu = time.perf_counter(), time.process_time()
next_obs, _ = envs.reset(seed=1)
next_obs, next_done = torch.Tensor(next_obs), torch.zeros(NUM_ENVS)
iterations = steps // (NUM_ENVS * NUM_STEPS)
for iteration in range(1, iterations + 1):
    frac = 1.0 - (iteration - 1.0) / iterations
    optimizer.param_groups[0]["lr"] = frac * 1e-3
    clip = 0.2 * frac
    for step in range(NUM_STEPS):
        obs[step], dones[step] = next_obs, next_done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step] = value.flatten()
        actions[step], logprobs[step] = action, logprob
        next_obs, reward, terminations, truncations, infos = envs.step(action.cpu().numpy())
        rewards[step] = torch.tensor(reward).view(-1)
        next_obs, next_done = torch.Tensor(next_obs), torch.Tensor(np.logical_or(terminations, truncations))
    with torch.no_grad():
        next_value = agent.critic(next_obs).reshape(1, -1)
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        for t in reversed(range(NUM_STEPS)):
            nextnonterminal = 1.0 - (next_done if t == NUM_STEPS - 1 else dones[t + 1])
            nextvalues = next_value if t == NUM_STEPS - 1 else values[t + 1]
            delta = rewards[t] + GAMMA * nextvalues * nextnonterminal - values[t]
            advantages[t] = lastgaelam = delta + GAMMA * GAE_LAMBDA * nextnonterminal * lastgaelam
        returns = advantages + values
    b_obs, b_actions, b_logprobs = obs.reshape(-1, 4), actions.reshape(-1), logprobs.reshape(-1)
    b_advantages, b_returns = advantages.reshape(-1), returns.reshape(-1)
    b_inds = np.arange(NUM_ENVS * NUM_STEPS)
    for _ in range(EPOCHS):
        np.random.shuffle(b_inds)
        for start in range(0, len(b_inds), MINIBATCH):
            mb = b_inds[start : start + MINIBATCH]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions.long()[mb])
            logratio = newlogprob - b_logprobs[mb]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
                clipfrac = ((ratio - 1.0).abs() > clip).float().mean().item()
            mb_adv = b_advantages[mb]
            mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std() + 1e-8)
            pg_loss = torch.max(-mb_adv * ratio, -mb_adv * torch.clamp(ratio, 1 - clip, 1 + clip)).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb]) ** 2).mean()
            loss = pg_loss - 0.0 * entropy.mean() + v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
print(f"measured {steps / (time.perf_counter() - wall):.1f} {steps / (time.process_time() - cpu):.1f}")
