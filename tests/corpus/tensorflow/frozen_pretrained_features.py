import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(73)

encoder = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)], name="encoder")
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(8)], name="decoder")
autoencoder = keras.Sequential([encoder, decoder])
autoencoder.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")

mixing = np.random.randn(4, 8).astype("float32")
frames = np.random.randn(256, 4).astype("float32") @ mixing
history = autoencoder.fit(frames, frames, epochs=3, batch_size=64, verbose=0)
print("reconstruction", [round(float(x), 3) for x in history.history["loss"]])

encoder.trainable = False
q_head = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)], name="q_head")
target_head = keras.models.clone_model(q_head)
target_head.set_weights(q_head.get_weights())
optimizer = keras.optimizers.Adam(3e-3)


def features(x):
    return encoder(x, training=False)


def train_on(batch):
    obs, act, rew, nxt = batch
    y = rew + 0.9 * np.max(target_head.predict(features(nxt), verbose=0), axis=1)
    with tf.GradientTape() as tape:
        z = features(obs)
        q = tf.gather(q_head(z), act, axis=1, batch_dims=1)
        loss = tf.reduce_mean(keras.losses.huber(y[:, None], q[:, None]))
    grads = tape.gradient(loss, q_head.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_head.trainable_variables))
    return float(loss)


for step in range(10):
    latent = np.random.randn(32, 4).astype("float32")
    act = np.random.randint(3, size=32)
    batch = (latent @ mixing, act, latent[np.arange(32), act], np.random.randn(32, 4).astype("float32") @ mixing)
    loss = train_on(batch)
    if step % 3 == 0:
        target_head.set_weights(q_head.get_weights())
        print("step", step, "loss", round(loss, 4))
