import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf
from keras import layers

np.random.seed(9)
tf.random.set_seed(9)
gamma = 0.95
epsilon, epsilon_min, epsilon_interval = 1.0, 0.1, 0.9
batch_size = 16
num_actions = 3


class Catch:
    """8x8 screen; move the paddle under the falling ball."""

    def reset(self):
        self.ball, self.col, self.paddle = 0, np.random.randint(8), np.random.randint(8)
        return self.frame()

    def frame(self):
        f = np.zeros((8, 8, 1), dtype="float32")
        f[self.ball, self.col] = 1.0
        f[7, self.paddle] = 1.0
        return f

    def step(self, action):
        self.paddle = int(np.clip(self.paddle + action - 1, 0, 7))
        self.ball += 1
        done = self.ball == 7
        reward = (1.0 if self.paddle == self.col else -1.0) if done else 0.0
        return self.frame(), reward, done


def create_q_model():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(6, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(num_actions, activation="linear"),
    ])


model = create_q_model()
model_target = create_q_model()
model_target.set_weights(model.get_weights())
optimizer = keras.optimizers.Adam(learning_rate=0.00025, clipnorm=1.0)
loss_function = keras.losses.Huber()
hist, frame_count, env = [], 0, Catch()
update_after_actions, update_target_network = 4, 40

for episode in range(13):
    state, done, episode_reward = env.reset(), False, 0
    while not done:
        frame_count += 1
        if frame_count < 40 or epsilon > np.random.rand():
            action = np.random.choice(num_actions)
        else:
            state_tensor = keras.ops.expand_dims(keras.ops.convert_to_tensor(state), 0)
            action_probs = model(state_tensor, training=False)
            action = keras.ops.argmax(action_probs[0]).numpy()
        epsilon = max(epsilon - epsilon_interval / 150, epsilon_min)
        state_next, reward, done = env.step(action)
        hist.append((state, action, reward, state_next, float(done)))
        state = state_next
        episode_reward += reward

        if frame_count % update_after_actions == 0 and len(hist) > batch_size:
            s, a, r, s2, d = (np.array(x) for x in zip(*[hist[i] for i in np.random.choice(len(hist), batch_size)]))
            future_rewards = model_target.predict(s2, verbose=0)
            updated_q_values = r + gamma * keras.ops.amax(future_rewards, axis=1) * (1 - d)
            masks = keras.ops.one_hot(a, num_actions)
            with tf.GradientTape() as tape:
                q_values = model(s)
                q_action = keras.ops.sum(keras.ops.multiply(q_values, masks), axis=1)
                loss = loss_function(updated_q_values, q_action)
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
        if frame_count % update_target_network == 0:
            model_target.set_weights(model.get_weights())
            print("episode", episode, "frame", frame_count, "loss", float(loss))
