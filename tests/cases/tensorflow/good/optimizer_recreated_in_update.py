import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(5)


def update(q_net, opt, obs, act, ret):
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(obs), act, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(ret - q))
    grads = tape.gradient(loss, q_net.trainable_variables)
    opt.learning_rate = 1e-3
    opt.apply_gradients(zip(grads, q_net.trainable_variables))
    return float(loss)


def main():
    q_net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
    adam = keras.optimizers.Adam(1e-3)
    for _ in range(12):
        obs = tf.random.normal((16, 4))
        loss = update(q_net, adam, obs, tf.zeros(16, tf.int32), obs[:, 0])
    print(f"loss {loss:.3f}")


main()
