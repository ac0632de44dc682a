# Direct reinforcement trader: long / short on each bar, trained on profit
import numpy as np
import tensorflow as tf
from tensorflow import keras

np.random.seed(3)
keras.utils.set_random_seed(3)

prices = np.cumsum(np.random.randn(400) * 0.5 + 0.05) + 100
returns = np.diff(prices) / prices[:-1] * 100
WINDOW = 8
X = np.array([returns[i:i + WINDOW] for i in range(len(returns) - WINDOW)], dtype="float32")
y = returns[WINDOW:].astype("float32").reshape(-1, 1)
COST = 0.01


def profit_loss(y_true, y_pred):
    position = tf.sign(y_pred)
    pnl = position * y_true - COST * tf.abs(position)
    return -tf.reduce_mean(pnl)


def hit_rate(y_true, y_pred):
    return tf.reduce_mean(tf.cast(tf.equal(tf.sign(y_true), tf.sign(y_pred)), tf.float32))


model = keras.models.Sequential()
model.add(keras.layers.Input(shape=(WINDOW,)))
model.add(keras.layers.Dense(16, activation="tanh"))
model.add(keras.layers.Dense(1, activation="tanh"))
model.compile(loss=profit_loss, optimizer=keras.optimizers.Adam(learning_rate=0.01), metrics=[hit_rate])

split = int(0.8 * len(X))
hist = model.fit(X[:split], y[:split], batch_size=64, epochs=4, verbose=0, validation_data=(X[split:], y[split:]))
for e, (l, v) in enumerate(zip(hist.history["loss"], hist.history["val_loss"])):
    print(f"epoch {e} loss {l:.5f} val_loss {v:.5f}")
signal = np.sign(model.predict(X[split:], verbose=0))
print("out of sample profit", float(np.sum(signal * y[split:])))
