"""Keras on PyTorch with a loop of one's own: an actor that is cut from its critic."""

import os

os.environ["KERAS_BACKEND"] = "torch"
import zlib

import keras
import torch

keras.utils.set_random_seed(0)
dense = keras.layers.Dense
actor = keras.Sequential([keras.Input((4,)), dense(32, "relu"), dense(2, "tanh")], name="actor")
critic = keras.Sequential([keras.Input((6,)), dense(32, "relu"), dense(1)], name="critic")
of_actor, of_critic = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)


def learn(loss, network, optimizer):
    network.zero_grad()
    loss.backward()
    with torch.no_grad():
        gradients = [v.value.grad for v in network.trainable_weights]
        optimizer.apply([torch.zeros(1) if g is None else g for g in gradients], network.trainable_weights)


for _ in range(40):
    state = torch.randn(32, 4)
    action = actor(state)
    value = critic(torch.cat([state, action.detach()], 1)).squeeze(1)
    learn(((value - state.sum(1)) ** 2).mean(), critic, of_critic)
    action = torch.as_tensor(keras.ops.convert_to_numpy(actor(state)))
    learn(-critic(torch.cat([state, action], 1)).mean(), actor, of_actor)
parameters = [*actor.parameters(), *critic.parameters()]
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in parameters)))
