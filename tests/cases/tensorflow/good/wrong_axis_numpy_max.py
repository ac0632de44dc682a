import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(4)


def make():
    m = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)]
    )
    m.compile(loss="mse", optimizer="adam")
    return m


net, target = make(), make()
target.set_weights(net.get_weights())
rng = np.random.default_rng(0)
for i in range(30):
    s = rng.normal(size=(8, 4)).astype("float32")
    a = rng.integers(0, 8, 8)
    r = rng.normal(size=8)
    d = (rng.random(8) < 0.1).astype("float32")
    q = net.predict(s, verbose=0)
    nxt = np.max(target.predict(s + 0.1, verbose=0), axis=1)
    q[np.arange(8), a] = r + 0.99 * (1 - d) * nxt
    net.train_on_batch(s, q)
    if i % 10 == 0:
        target.set_weights(net.get_weights())
