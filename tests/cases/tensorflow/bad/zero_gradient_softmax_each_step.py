import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)


class ActorCritic(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.common = tf.keras.layers.Dense(16, activation="relu")
        self.actor = tf.keras.layers.Dense(2)
        self.critic = tf.keras.layers.Dense(1, activation="softmax")

    def call(self, x):
        x = self.common(x)
        return self.actor(x), self.critic(x)


model = ActorCritic()
opt = tf.keras.optimizers.Adam(1e-3)
rng = np.random.default_rng(0)
for episode in range(12):
    with tf.GradientTape() as tape:
        values, log_probs = [], []
        states = rng.normal(size=(8, 4)).astype("float32")
        for state in states:
            logits, value = model(state[None])
            values.append(tf.squeeze(value))
            action = tf.random.categorical(logits, 1)[0, 0]
            log_probs.append(tf.nn.log_softmax(logits)[0, action])
        returns = tf.constant(states[:, 0])
        advantage = returns - tf.stack(values)
        loss = -tf.reduce_mean(tf.stack(log_probs) * tf.stop_gradient(advantage))
        loss += 0.5 * tf.reduce_mean(tf.square(advantage))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
