"""DQN as a plain single-file loop, the way CleanRL and most tutorials write it, with agents/dqn.py's settings."""

import random
import sys
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from stable_baselines3.common.buffers import ReplayBuffer
from torch import nn

torch.set_num_threads(1)


class QNetwork(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(int(np.prod(env.single_observation_space.shape)), 128),
            nn.ReLU(),
            nn.Linear(128, 128),
            nn.ReLU(),
            nn.Linear(128, int(env.single_action_space.n)),
        )

    def forward(self, x):
        return self.network(x)


steps = int(sys.argv[1])
random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
envs = gym.vector.SyncVectorEnv(
    [lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))],
    autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
)
q_network, target_network = QNetwork(envs), QNetwork(envs)
optimizer = torch.optim.Adam(q_network.parameters(), lr=2.3e-3)
target_network.load_state_dict(q_network.state_dict())
rb = ReplayBuffer(
    100_000, envs.single_observation_space, envs.single_action_space, "cpu", handle_timeout_termination=False
)

wall, cpu = time.perf_counter(), time.process_time()
obs, _ = envs.reset(seed=1)
for step in range(1, steps + 1):
    epsilon = max(0.04, 1 - (step / (0.16 * steps)) * 0.96)
    if step < 1_000 or random.random() < epsilon:
        actions = np.array([envs.single_action_space.sample()])
    else:
        q_values = q_network(torch.Tensor(obs))
        actions = torch.argmax(q_values, dim=1).cpu().numpy()
    next_obs, rewards, terminations, truncations, infos = envs.step(actions)
    real_next_obs = next_obs.copy()
    for index, over in enumerate(terminations | truncations):
        if over:
            real_next_obs[index] = infos["final_obs"][index]
    rb.add(obs, real_next_obs, actions, rewards, terminations, infos)
    obs = next_obs
    if step % 256 == 0 and step >= 1_000:
        for group in optimizer.param_groups:
            group["lr"] = 2.3e-3 * (1 - step / steps)
        for _ in range(128):
            data = rb.sample(64)
            with torch.no_grad():
                target_max, _ = target_network(data.next_observations).max(dim=1)
                td_target = data.rewards.flatten() + 0.99 * target_max * (1 - data.dones.flatten())
            old_val = q_network(data.observations).gather(1, data.actions).squeeze()
            loss = F.mse_loss(td_target, old_val)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(q_network.parameters(), 10.0)
            optimizer.step()
        target_network.load_state_dict(q_network.state_dict())
print(f"measured {steps / (time.perf_counter() - wall):.1f} {steps / (time.process_time() - cpu):.1f}")
