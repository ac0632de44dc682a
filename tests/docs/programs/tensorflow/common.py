import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
actor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2)])
state_in, action_in = keras.Input((3,)), keras.Input((2,))
joined = keras.layers.Concatenate()([state_in, action_in])
critic = keras.Model([state_in, action_in], keras.layers.Dense(1)(keras.layers.Dense(8, "relu")(joined)))
state, target = tf.random.normal((16, 3)), tf.random.normal((16, 1))
