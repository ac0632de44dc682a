import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
OBS, LATENT, ACTIONS = 10, 6, 4
MOVES = rng.normal(size=(ACTIONS, OBS)).astype("float32")


def rollouts(n):
    s = rng.normal(size=(n, OBS)).astype("float32")
    a = rng.integers(ACTIONS, size=n)
    return s, a, s + MOVES[a]


def make_encoder():
    return keras.Sequential([keras.Input((OBS,)), layers.Dense(16, activation="relu"), layers.Dense(LATENT)],
                            name="encoder")


# stage 1: which action led from s to s2?
encoder = make_encoder()
a_in, b_in = keras.Input((OBS,)), keras.Input((OBS,))
joint = layers.Concatenate()([encoder(a_in), encoder(b_in)])
inverse = keras.Model([a_in, b_in], layers.Dense(ACTIONS)(joint))
inverse.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
s, a, s2 = rollouts(400)
log = inverse.fit([s, s2], a, epochs=4, batch_size=50, verbose=0)
print("inverse model accuracy", round(log.history["accuracy"][-1], 3))

path = os.path.join(tempfile.mkdtemp(), "enc.weights.h5")
encoder.save_weights(path)

# stage 2: policy head on the demonstrations
features = make_encoder()
features.load_weights(path)
features.trainable = False
obs_in = keras.Input((OBS,))
h = layers.Dense(12, activation="relu")(features(obs_in, training=False))
policy = keras.Model(obs_in, layers.Dense(ACTIONS)(h))
policy.compile(keras.optimizers.Adam(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
demo_s = rng.normal(size=(320, OBS)).astype("float32")
demo_a = (demo_s @ MOVES.T).argmax(1)
demos = tf.data.Dataset.from_tensor_slices((demo_s, demo_a)).shuffle(320, seed=0).batch(32)
stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2)
log = policy.fit(demos, epochs=5, verbose=0, callbacks=[stop])
print("cloning loss", [round(v, 3) for v in log.history["loss"]])

# stage 3: a few reward-weighted steps
opt = keras.optimizers.SGD(0.05)
for it in range(5):
    obs = rng.normal(size=(40, OBS)).astype("float32")
    act = tf.random.categorical(policy(obs), 1)[:, 0]
    reward = tf.cast(act == (obs @ MOVES.T).argmax(1), tf.float32)
    with tf.GradientTape() as tape:
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=policy(obs))
        loss = tf.reduce_mean(xent * (reward - tf.reduce_mean(reward)))
    opt.apply_gradients(zip(tape.gradient(loss, policy.trainable_weights), policy.trainable_weights))
    print("it", it, "reward", float(tf.reduce_mean(reward)))
