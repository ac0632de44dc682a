"""Behaviour cloning from logged data, encoder + policy trained end to end."""
import numpy as np
import tensorflow as tf
from tensorflow import keras


def make_dataset(n=256, seed=0):
    rng = np.random.default_rng(seed)
    image = rng.random((n, 6, 6, 1)).astype("float32")
    speed = rng.normal(size=(n, 2)).astype("float32")
    action = (image.mean((1, 2, 3)) > 0.5).astype("int64") + (speed[:, 0] > 0)
    return {"image": image, "speed": speed}, action


def make_encoder():
    image = keras.Input((6, 6, 1), name="image")
    speed = keras.Input((2,), name="speed")
    x = keras.layers.Conv2D(4, 3, activation="relu")(image)
    x = keras.layers.Flatten()(x)
    x = keras.layers.concatenate([x, speed])
    return keras.Model({"image": image, "speed": speed}, keras.layers.Dense(16, activation="relu")(x), name="encoder")


def make_policy():
    return keras.Sequential([keras.Input((16,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)], name="policy")


def accuracy(features, labels):
    return float(np.mean(np.argmax(policy(features), axis=1) == labels))


keras.utils.set_random_seed(9)
observations, actions = make_dataset()
encoder, policy = make_encoder(), make_policy()
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(3e-3)

features = encoder(observations)
weights = encoder.trainable_weights + policy.trainable_weights
print("training", sum(int(np.prod(w.shape)) for w in weights), "parameters")

for epoch in range(3):
    order = np.random.permutation(len(actions))
    for start in range(0, len(order), 64):
        batch = order[start:start + 64]
        with tf.GradientTape() as tape:
            logits = policy(tf.gather(features, batch))
            loss = xent(actions[batch], logits)
        grads = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(grads, weights))
    print(f"epoch {epoch} loss {float(loss):.4f} accuracy {accuracy(features, actions):.3f}")
