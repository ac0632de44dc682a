"""A value network that ends in a softmax, trained by fit."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)

obs = np.random.randn(256, 4).astype("float32")
returns = obs[:, :1] * 2 + 1
value = keras.Sequential([layers.Input((4,)), layers.Dense(16, "tanh"), layers.Dense(1)])
value.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
value.fit(obs, returns, epochs=2, batch_size=64, verbose=0)
