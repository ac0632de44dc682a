import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(23)


class Robot:
    """Planar arm with two joints. The kinematics come from an old numpy library."""

    lengths = np.array([1.0, 0.7], dtype=np.float32)

    def forward(self, angles):
        total = np.cumsum(angles, axis=1)
        x = (self.lengths * np.cos(total)).sum(axis=1)
        y = (self.lengths * np.sin(total)).sum(axis=1)
        return np.stack([x, y], axis=1).astype(np.float32)


robot = Robot()


def hand_position(angles):
    return tf.convert_to_tensor(robot.forward(angles.numpy()))


class Controller(keras.Model):
    def __init__(self):
        super().__init__()
        self.l1 = keras.layers.Dense(24, activation="tanh")
        self.l2 = keras.layers.Dense(2)

    def call(self, goal):
        return self.l2(self.l1(goal))


controller = Controller()
controller(tf.zeros((1, 2)))
optimizer = keras.optimizers.Adam(5e-3)


@tf.function
def step(goal):
    with tf.GradientTape() as tape:
        angles = controller(goal)
        hand = tf.py_function(hand_position, [angles], tf.float32)
        hand = tf.ensure_shape(hand, (None, 2))
        loss = tf.reduce_mean(tf.reduce_sum(tf.square(hand - goal), axis=1))
    grads = tape.gradient(loss, controller.trainable_variables)
    optimizer.apply_gradients(zip(grads, controller.trainable_variables))
    return loss


for it in range(30):
    goal = np.random.uniform(-1, 1, (32, 2)).astype("float32")
    loss = step(tf.constant(goal))
    if it % 10 == 0:
        print("it", it, "distance", round(float(loss) ** 0.5, 4))
