# Question: why does minimize tell me that there are no gradients? The loss is fine when I print it.
import numpy as np
import tensorflow as tf
import tf_keras as keras

tf.random.set_seed(42)
np.random.seed(42)

model = keras.Sequential([
    keras.layers.Dense(20, activation="relu", input_shape=(4,)),
    keras.layers.Dense(2, activation="softmax"),
])
optimizer = keras.optimizers.Adam(learning_rate=0.01)


class Env:
    def reset(self):
        self.s = np.random.randn(4).astype("float32")
        return self.s

    def step(self, a):
        r = 1.0 if a == int(self.s[0] > 0) else 0.0
        return self.reset(), r


def discount(rewards, gamma=0.9):
    out, run = np.zeros(len(rewards), dtype="float32"), 0.0
    for i in reversed(range(len(rewards))):
        run = rewards[i] + gamma * run
        out[i] = run
    return (out - out.mean()) / (out.std() + 1e-7)


def get_loss(states, actions, G):
    probs = model(states)
    picked = tf.reduce_sum(probs * tf.one_hot(actions, 2), axis=1)
    return -tf.reduce_mean(tf.math.log(picked) * G)


env = Env()
for episode in range(5):
    states, actions, rewards = [], [], []
    s = env.reset()
    for t in range(20):
        p = model(s[None]).numpy()[0].astype("float64")
        a = np.random.choice(2, p=p / p.sum())
        states.append(s)
        actions.append(a)
        s, r = env.step(a)
        rewards.append(r)
    loss = get_loss(np.array(states), np.array(actions), discount(rewards))
    print("episode", episode, "reward", sum(rewards), "loss", loss.numpy())
    optimizer.minimize(lambda: loss, model.trainable_variables)
