"""Small Keras models that together have every layer that can be converted."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers as kl


def snake() -> keras.Model:
    return keras.Sequential([
        keras.Input((9, 9, 2)), kl.Conv2D(4, 3, activation="relu"), kl.BatchNormalization(),
        kl.Conv2D(8, 3, activation="relu"), kl.Flatten(), kl.Dense(10, activation="relu"), kl.Dropout(0.25), kl.Dense(3),
    ])  # fmt: skip


def images() -> keras.Model:
    return keras.Sequential([
        keras.Input((11, 10, 3)), kl.ZeroPadding2D(((1, 0), (2, 1))), kl.Conv2D(6, (3, 2), strides=2, padding="same"),
        kl.LeakyReLU(negative_slope=0.1), kl.DepthwiseConv2D(3, padding="same", depth_multiplier=2, activation="relu6"),
        kl.MaxPooling2D(2, padding="same"), kl.SeparableConv2D(5, 3, padding="same", depth_multiplier=2, activation="elu"),
        kl.UpSampling2D((2, 3)), kl.Cropping2D(((1, 0), (0, 1))), kl.AveragePooling2D(3, strides=2, padding="same"),
        kl.Conv2DTranspose(4, 3, strides=2, padding="same", activation="softplus"), kl.ReLU(max_value=2.0),
        kl.LayerNormalization(), kl.GlobalAveragePooling2D(), kl.Dense(4), kl.Softmax(),
    ])  # fmt: skip


def transposed() -> keras.Model:
    return keras.Sequential([
        keras.Input((4, 5, 2)), kl.Conv2DTranspose(3, (2, 4), strides=(3, 2), padding="valid", activation="tanh"),
        kl.Conv2D(2, 3, dilation_rate=2, use_bias=False), kl.BatchNormalization(scale=False, epsilon=0.01),
        kl.Permute((3, 1, 2)), kl.Reshape((2, -1)), kl.Activation("swish"), kl.GlobalMaxPooling1D(),
    ])  # fmt: skip


def series() -> keras.Model:
    return keras.Sequential([
        keras.Input((12, 3)), kl.Conv1D(4, 3, padding="same", strides=2, activation="sigmoid"), kl.MaxPooling1D(2),
        kl.LSTM(5, return_sequences=True), kl.GRU(4, reset_after=False, return_sequences=True), kl.SimpleRNN(3),
        kl.RepeatVector(2), kl.AveragePooling1D(2), kl.Flatten(), kl.Dense(2, activation="selu"), kl.ELU(),
    ])  # fmt: skip


def steep() -> keras.Model:
    return keras.Sequential([
        keras.Input((6, 2)), kl.LSTM(4, recurrent_activation="hard_sigmoid", return_sequences=True),
        kl.GRU(3, reset_after=False, recurrent_activation="hard_sigmoid"), kl.Dense(3, activation="hard_sigmoid"),
    ])  # fmt: skip


def words() -> keras.Model:
    inputs = keras.Input((7,), dtype="int32")
    return keras.Model(inputs, kl.GlobalAveragePooling1D()(kl.Embedding(11, 4)(inputs)))


def branches() -> keras.Model:
    image, extra = keras.Input((6, 6, 2), name="image"), keras.Input((3,), name="extra")
    shared = kl.Conv2D(2, 3, padding="same", activation="gelu", name="shared")
    once = shared(image)
    twice = shared(once)
    merged = [kl.Add()([once, twice]), kl.Multiply()([once, twice]), kl.Maximum()([once, twice])]
    merged += [kl.Average()([once, twice]), kl.Minimum()([image, twice])]
    flat = kl.GlobalMaxPooling2D()(kl.Concatenate()(merged))
    joined = kl.Concatenate()([flat, kl.Dense(4, activation="mish")(extra)])
    return keras.Model([image, extra], [kl.Dense(2)(joined), kl.Dense(1, activation="softsign")(joined)])


def nested() -> keras.Model:
    inner = keras.Sequential([keras.Input((5,)), kl.Dense(4, activation="relu"), kl.Dense(3)], name="inner")
    inputs = keras.Input((5,))
    return keras.Model(inputs, kl.Add()([inner(inputs), kl.Dense(3)(inputs)]))


ALL = [snake, images, transposed, series, steep, words, branches, nested]


def build(make) -> keras.Model:  # type: ignore[no-untyped-def]
    """One of them, with weights that are nowhere zero or one."""
    keras.utils.set_random_seed(7)
    keras.backend.clear_session()
    model = make()
    rng = np.random.default_rng(7)
    for variable in model.weights:
        noise = rng.normal(0, 0.3, variable.shape)
        variable.assign(np.abs(noise) + 0.5 if variable.name == "moving_variance" else noise)
    return model


def inputs_for(model: keras.Model) -> list[np.ndarray]:
    """A batch for each input."""
    rng = np.random.default_rng(3)
    return [
        rng.integers(0, 11, (4, *x.shape[1:])).astype("int32") if x.dtype == "int32"
        else rng.normal(0, 1, (4, *x.shape[1:])).astype("float32")
        for x in model.inputs
    ]  # fmt: skip
