import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
actor = tf.keras.Sequential(
    [tf.keras.Input((3,)), tf.keras.layers.Dense(24, activation="tanh"), tf.keras.layers.Dense(2)]
)
critic = tf.keras.Sequential(
    [tf.keras.Input((3,)), tf.keras.layers.Dense(24, activation="tanh"), tf.keras.layers.Dense(1)]
)
opt = tf.keras.optimizers.Adam(1e-3)


def advantages(rewards, values, dones, last, gamma=0.99):
    adv = np.zeros_like(rewards)
    values = np.append(values, last)
    for t in reversed(range(len(rewards))):
        adv[t] = rewards[t] + gamma * values[t + 1] - values[t]
    return adv, adv + values[:-1]


rng = np.random.default_rng(0)
for it in range(30):
    obs, acts, rews, dones, vals, logps = [], [], [], [], [], []
    s = rng.normal(size=3).astype("float32")
    for t in range(16):
        logits = actor(s[None])
        a = int(tf.random.categorical(logits, 1)[0, 0])
        vals.append(float(critic(s[None])[0, 0]))
        logps.append(float(tf.nn.log_softmax(logits)[0, a]))
        obs.append(s)
        acts.append(a)
        rews.append(float(s[a]))
        dones.append(float(t % 5 == 4))
        s = rng.normal(size=3).astype("float32")
    adv, ret = advantages(np.array(rews), np.array(vals), np.array(dones), float(critic(s[None])[0, 0]))
    adv = ((adv - adv.mean()) / (adv.std() + 1e-8)).astype("float32")
    ret = ret.astype("float32")
    for epoch in range(2):
        with tf.GradientTape() as tape:
            logp = tf.reduce_sum(tf.nn.log_softmax(actor(np.array(obs))) * tf.one_hot(acts, 2), axis=1)
            ratio = tf.exp(logp - np.array(logps, dtype="float32"))
            pg = -tf.reduce_mean(tf.minimum(ratio * adv, tf.clip_by_value(ratio, 0.8, 1.2) * adv))
            v = tf.squeeze(critic(np.array(obs)), axis=1)
            loss = pg + 0.5 * tf.reduce_mean((ret - v) ** 2)
        vs = actor.trainable_variables + critic.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
