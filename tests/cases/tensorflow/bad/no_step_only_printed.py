import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(4)


def main():
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
    opt = keras.optimizers.Adam(1e-3)
    for _ in range(6):
        obs = tf.random.normal((16, 4))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(obs)[:, 0] - obs[:, 0]))
        grads = tape.gradient(loss, net.trainable_variables)
        print("norm", round(float(tf.linalg.global_norm(grads)), 3))
        print("loss", round(float(loss), 3))
    print("optimizer", opt.name)


main()
