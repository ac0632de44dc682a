import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(71)


def train(updates=40):
    policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(2)])
    opt = keras.optimizers.Adam(1e-3)
    for update in range(updates):
        obs = tf.random.normal((64, 4))
        actions = tf.random.categorical(policy(obs), 1)[:, 0]
        returns = tf.cast(tf.equal(actions, tf.cast(obs[:, 0] > 0, tf.int64)), tf.float32)
        with tf.GradientTape() as tape:
            log_probs = tf.nn.log_softmax(policy(obs))
            chosen = tf.reduce_sum(log_probs * tf.one_hot(actions, 2), axis=1)
            loss = tf.reduce_mean(chosen * returns)
        grads = tape.gradient(loss, policy.trainable_variables)
        opt.apply_gradients(zip(grads, policy.trainable_variables))
        if update % 20 == 0:
            print(update, float(tf.reduce_mean(returns)))


train()
