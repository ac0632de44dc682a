import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = tf.keras.layers.Dense(32, activation="relu")
        self.drop = tf.keras.layers.Dropout(0.3)
        self.out = tf.keras.layers.Dense(2)

    def call(self, x, training=False):
        return self.out(self.drop(self.d1(x), training=training))


net = Net()
opt = tf.keras.optimizers.Adam(1e-3)


def act(state):
    logits = net(state[None], training=True)
    return int(tf.random.categorical(logits, 1)[0, 0])


rng = np.random.default_rng(0)
for episode in range(40):
    states, actions, rewards = [], [], []
    for t in range(6):
        s = rng.normal(size=4).astype("float32")
        states.append(s)
        actions.append(act(s))
        rewards.append(float(s[0] > 0) if actions[-1] == 0 else float(s[0] <= 0))
    returns = np.cumsum(rewards[::-1])[::-1].astype("float32")
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    with tf.GradientTape() as tape:
        logits = net(np.array(states), training=True)
        logp = tf.reduce_sum(tf.one_hot(actions, 2) * tf.nn.log_softmax(logits), axis=1)
        loss = -tf.reduce_mean(logp * returns)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
