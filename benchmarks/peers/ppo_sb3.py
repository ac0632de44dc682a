"""Stable-Baselines3's PPO with the hyperparameters of agents/ppo.py."""

import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

torch.set_num_threads(1)
steps = int(sys.argv[1])
envs = make_vec_env("CartPole-v1", n_envs=8, seed=1)
model = PPO(
    "MlpPolicy",
    envs,
    learning_rate=lambda left: 1e-3 * left,
    n_steps=32,
    batch_size=256,
    n_epochs=20,
    gamma=0.98,
    gae_lambda=0.8,
    clip_range=lambda left: 0.2 * left,
    ent_coef=0.0,
    vf_coef=0.5,
    max_grad_norm=0.5,
    policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]}},
    seed=1,
)
wall, cpu = time.perf_counter(), time.process_time()
model.learn(steps)
print(f"measured {steps / (time.perf_counter() - wall):.1f} {steps / (time.process_time() - cpu):.1f}")
