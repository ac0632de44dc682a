"""SAC of Stable-Baselines3 as its docs show it."""

import zlib

import gymnasium as gym
from stable_baselines3 import SAC

model = SAC(
    "MlpPolicy",
    gym.make("Pendulum-v1"),
    learning_starts=100,
    tau=0.005,
    policy_kwargs=dict(net_arch=[32, 32]),
    seed=0,
    device="cpu",
)
model.learn(500)
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.policy.parameters())))
