import os
import random
import tempfile
from collections import deque

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
from tensorflow.keras import Input, callbacks, utils
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential, clone_model
from tensorflow.keras.optimizers import Adam

utils.set_random_seed(10)


class Corridor:
    n = 7

    def reset(self):
        self.pos = random.randrange(1, self.n - 1)
        return self._obs()

    def _obs(self):
        return np.eye(self.n, dtype="float32")[[self.pos]]

    def step(self, a):
        self.pos += 1 if a else -1
        done = self.pos in (0, self.n - 1)
        return self._obs(), 1.0 if self.pos == self.n - 1 else 0.0, done


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size, self.action_size = state_size, action_size
        self.memory = deque(maxlen=2000)
        self.gamma, self.epsilon, self.epsilon_decay = 0.95, 1.0, 0.9
        self.model = self._build_model()
        self.target_model = clone_model(self.model)
        self.update_target_model()
        self.losses = []

    def _build_model(self):
        model = Sequential([Input((self.state_size,)), Dense(24, activation="relu"), Dense(24, activation="relu"),
                            Dense(self.action_size, activation="linear")])
        model.compile(loss="mse", optimizer=Adam(learning_rate=0.005))
        return model

    def update_target_model(self):
        self.target_model.set_weights(self.model.get_weights())

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(self.action_size)
        return int(np.argmax(self.model.predict(state, verbose=0)[0]))

    def replay(self, batch_size):
        batch = random.sample(self.memory, batch_size)
        states = np.vstack([b[0] for b in batch])
        nexts = np.vstack([b[3] for b in batch])
        target = self.model.predict_on_batch(states)
        t = self.target_model.predict_on_batch(nexts)
        best = self.model.predict_on_batch(nexts).argmax(axis=1)
        for i, (_, a, r, _, done) in enumerate(batch):
            target[i][a] = r if done else r + self.gamma * t[i][best[i]]
        self.losses.append(float(self.model.train_on_batch(states, target)))
        self.epsilon = max(0.05, self.epsilon * self.epsilon_decay)


env, agent = Corridor(), DQNAgent(7, 2)
for e in range(7):
    state = env.reset()
    for time in range(20):
        action = agent.act(state)
        next_state, reward, done = env.step(action)
        agent.memory.append((state, action, reward, next_state, done))
        state = next_state
        if len(agent.memory) > 16:
            agent.replay(16)
        if done:
            agent.update_target_model()
            break
    print("episode", e, "steps", time, "epsilon %.2f" % agent.epsilon)

# consolidate on the whole memory, keeping the best weights
S, A, R, S2, D = zip(*agent.memory)
S, S2 = np.vstack(S), np.vstack(S2)
y = agent.model.predict(S, verbose=0)
y[np.arange(len(A)), A] = np.array(R) + 0.95 * (1 - np.array(D)) * agent.target_model.predict(S2, verbose=0).max(1)
best = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
agent.model.fit(S, y, epochs=3, verbose=0, callbacks=[
    callbacks.ModelCheckpoint(best, monitor="loss", save_best_only=True, save_weights_only=True),
    callbacks.ReduceLROnPlateau(monitor="loss", patience=1)])
agent.model.load_weights(best)
print("loss", agent.losses[-1], "greedy", agent.model.predict(np.eye(7)[1:-1], verbose=0).argmax(1))
