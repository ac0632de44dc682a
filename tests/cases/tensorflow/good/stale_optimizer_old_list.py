import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(340)


class Policy(keras.Model):
    def __init__(self, n_actions):
        super().__init__()
        self.body = keras.layers.Dense(24, activation="tanh")
        self.head = keras.layers.Dense(n_actions)

    def call(self, obs):
        return self.head(self.body(obs))


policy = Policy(3)
policy(tf.zeros((1, 4)))
optimizer = keras.optimizers.SGD(0.1)
trainable = policy.trainable_variables
print("source task:", len(trainable), "variables")

policy.head = keras.layers.Dense(2, name="new_task")
policy(tf.zeros((1, 4)))
trainable = policy.trainable_variables
print("target task:", policy(tf.zeros((1, 4))).shape)


@tf.function
def reinforce(obs, act, adv):
    with tf.GradientTape() as tape:
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=policy(obs))
        loss = tf.reduce_mean(xent * adv)
    optimizer.apply_gradients(zip(tape.gradient(loss, trainable), trainable))
    return loss


for it in range(20):
    obs = np.random.randn(48, 4).astype("float32")
    act = tf.random.categorical(policy(obs), 1).numpy()[:, 0]
    rew = (act == (obs[:, 0] > 0)).astype("float32")
    loss = reinforce(obs, act, rew - rew.mean())
    if it % 5 == 0:
        print("it", it, "reward", rew.mean(), "loss", round(float(loss), 4))
