"""Stable-Baselines3's DQN with the hyperparameters of agents/dqn.py."""

import sys
import time

import gymnasium as gym
import torch
from stable_baselines3 import DQN

torch.set_num_threads(1)
steps, hidden = int(sys.argv[1]), 128
env = gym.make("CartPole-v1")
model = DQN(
    "MlpPolicy",
    env,
    learning_rate=lambda left: 2.3e-3 * left,
    buffer_size=100_000,
    learning_starts=1_000,
    batch_size=64,
    gamma=0.99,
    train_freq=256,
    gradient_steps=128,
    target_update_interval=256,
    exploration_fraction=0.16,
    exploration_final_eps=0.04,
    max_grad_norm=10.0,
    policy_kwargs={"net_arch": [hidden, hidden]},
    seed=1,
)
wall, cpu = time.perf_counter(), time.process_time()
model.learn(steps)
print(f"measured {steps / (time.perf_counter() - wall):.1f} {steps / (time.process_time() - cpu):.1f}")
