import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(n_obs, 32)), nn.Tanh(), layer_init(nn.Linear(32, 1), std=1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(n_obs, 32)), nn.Tanh(), layer_init(nn.Linear(32, n_act), std=0.01))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        probs = Categorical(logits=logits)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def main():
    torch.manual_seed(2)
    np.random.seed(2)
    num_steps, num_envs, n_obs, n_act = 16, 4, 5, 3
    agent = Agent(n_obs, n_act)
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)

    for iteration in range(5):
        obs = torch.zeros((num_steps, num_envs, n_obs))
        actions, logprobs = torch.zeros((num_steps, num_envs)), torch.zeros((num_steps, num_envs))
        rewards, values = torch.zeros((num_steps, num_envs)), torch.zeros((num_steps, num_envs))
        for step in range(num_steps):
            next_obs = torch.randn(num_envs, n_obs)
            obs[step] = next_obs
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
                values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob
            rewards[step] = (action == next_obs[:, :n_act].argmax(1)).float()
        with torch.no_grad():
            advantages = torch.zeros_like(rewards)
            lastgaelam = 0
            for t in reversed(range(num_steps)):
                nextvalues = values[t + 1] if t + 1 < num_steps else torch.zeros(num_envs)
                delta = rewards[t] + 0.99 * nextvalues - values[t]
                advantages[t] = lastgaelam = delta + 0.99 * 0.95 * lastgaelam
            returns = advantages + values

        b_obs, b_logprobs, b_actions = obs.reshape(-1, n_obs), logprobs.reshape(-1), actions.reshape(-1)
        b_advantages, b_returns = advantages.reshape(-1), returns.reshape(-1)
        b_inds = np.arange(num_steps * num_envs)
        for epoch in range(2):
            np.random.shuffle(b_inds)
            for start in range(0, len(b_inds), 16):
                mb_inds = b_inds[start : start + 16]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
                logratio = newlogprob - b_logprobs[mb_inds]
                with torch.no_grad():
                    ratio = logratio.exp()
                    approx_kl = ((ratio - 1) - logratio).mean()
                mb_adv = b_advantages[mb_inds]
                mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std() + 1e-8)
                pg_loss1 = -mb_adv * ratio
                pg_loss2 = -mb_adv * torch.clamp(ratio, 0.8, 1.2)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb_inds]) ** 2).mean()
                loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        print(f"iteration={iteration} reward={rewards.mean().item():.3f} kl={approx_kl.item():.5f}")


if __name__ == "__main__":
    main()
