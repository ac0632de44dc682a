"""The layers of TensorFlow in torch, laid out as there: batch, height, width, channels.

A convolution looks at its input through a permuted view, which torch calls channels_last: nothing is copied,
and a flattened image has the order that the next layer's weights expect. What a converted model needs of this
file is written into the model's own file.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


def activate(name, x):
    """An activation function by its name in Keras."""
    match name:
        case "linear":
            return x
        case "hard_sigmoid":  # not torch's, which is x / 6 + 0.5
            return torch.clamp(0.2 * x + 0.5, 0, 1)
        case "softmax":
            return torch.softmax(x, -1)
        case "swish":
            return F.silu(x)
        case _:
            return (
                getattr(torch, name, None)(x) if name in ("relu", "sigmoid", "tanh") else getattr(F, name)(x)
            )


def pad_same(x, size, strides, dilation, value=0.0):
    """TensorFlow's padding 'same' of channels-first images: one more at the end when it is odd."""
    margins = []
    for n, k, s, d in zip(
        reversed(x.shape[2:]), reversed(size), reversed(strides), reversed(dilation), strict=True
    ):
        total = max((math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0)
        margins += [total // 2, total - total // 2]
    return F.pad(x, margins, value=value) if any(margins) else x


class Dense(nn.Linear):
    """A dense layer over the last axis."""

    def __init__(self, inputs, units, activation="linear", use_bias=True):
        super().__init__(inputs, units, bias=use_bias)
        self.activation = activation

    def forward(self, x):
        return activate(self.activation, super().forward(x))


class Conv2D(nn.Conv2d):
    """A convolution of images, height x width x channels."""

    def __init__(self, inputs, filters, kernel_size, strides=(1, 1), padding="valid", dilation_rate=(1, 1),
                 activation="linear", use_bias=True, groups=1):  # fmt: skip
        super().__init__(inputs, filters, kernel_size, strides, 0, dilation_rate, groups, use_bias)
        self.same, self.activation = padding == "same", activation

    def forward(self, x):
        x = x.movedim(-1, 1)
        if self.same:
            x = pad_same(x, self.kernel_size, self.stride, self.dilation)
        return activate(self.activation, super().forward(x).movedim(1, -1))


class Conv1D(nn.Conv1d):
    """A convolution of series, steps x channels."""

    def __init__(self, inputs, filters, kernel_size, strides=(1,), padding="valid", dilation_rate=(1,),
                 activation="linear", use_bias=True):  # fmt: skip
        super().__init__(inputs, filters, kernel_size, strides, 0, dilation_rate, 1, use_bias)
        self.same, self.activation = padding == "same", activation

    def forward(self, x):
        x = x.movedim(-1, 1)
        if self.same:
            x = pad_same(x, self.kernel_size, self.stride, self.dilation)
        return activate(self.activation, super().forward(x).movedim(1, -1))


class SeparableConv2D(nn.Module):
    """A convolution of each channel alone, then one that mixes the channels."""

    def __init__(self, inputs, filters, kernel_size, strides, padding, dilation_rate, depth_multiplier,
                 activation="linear", use_bias=True):  # fmt: skip
        super().__init__()
        middle = inputs * depth_multiplier
        self.depthwise = Conv2D(
            inputs, middle, kernel_size, strides, padding, dilation_rate, "linear", False, inputs
        )
        self.pointwise = Conv2D(middle, filters, (1, 1), activation=activation, use_bias=use_bias)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Conv2DTranspose(nn.ConvTranspose2d):
    """A convolution backwards, cut to the size that TensorFlow gives."""

    def __init__(self, inputs, filters, kernel_size, strides, padding, activation="linear", use_bias=True):
        super().__init__(inputs, filters, kernel_size, strides, bias=use_bias)
        self.same, self.activation = padding == "same", activation

    def forward(self, x):
        sizes = x.shape[1:3]
        x = super().forward(x.movedim(-1, 1))
        for axis, (n, k, s) in enumerate(zip(sizes, self.kernel_size, self.stride, strict=True), 2):
            length = n * s if self.same else n * s + max(k - s, 0)
            start = max(k - s, 0) // 2 if self.same else 0
            missing = start + length - x.shape[axis]
            if missing > 0:  # strides wider than the kernel leave rows that only the bias reaches
                x = F.pad(x.movedim(axis, -1), (0, missing)).movedim(-1, axis)
                if self.bias is not None:
                    fill = self.bias.reshape(-1, 1, 1).expand(x.shape).narrow(axis, 0, missing)
                    x = torch.cat([x.narrow(axis, 0, x.shape[axis] - missing), fill], axis)
            x = x.narrow(axis, start, length)
        return activate(self.activation, x.movedim(1, -1))


class Pooling(nn.Module):
    """The largest or the mean value of each window; padding never counts."""

    def __init__(self, largest, pool_size, strides, padding):
        super().__init__()
        self.largest, self.pool_size, self.strides, self.same = largest, pool_size, strides, padding == "same"

    def forward(self, x):
        x = x.movedim(-1, 1)
        ones = (1,) * len(self.pool_size)
        if self.largest:
            pool = F.max_pool1d if len(ones) == 1 else F.max_pool2d
            if self.same:
                x = pad_same(x, self.pool_size, self.strides, ones, -math.inf)
            return pool(x, self.pool_size, self.strides).movedim(1, -1)
        pool = F.avg_pool1d if len(ones) == 1 else F.avg_pool2d
        if not self.same:
            return pool(x, self.pool_size, self.strides).movedim(1, -1)
        real = pad_same(torch.ones_like(x), self.pool_size, self.strides, ones)
        x = pad_same(x, self.pool_size, self.strides, ones)
        return (pool(x, self.pool_size, self.strides) / pool(real, self.pool_size, self.strides)).movedim(
            1, -1
        )


class BatchNormalization(nn.Module):
    """As in Keras and TensorFlow.js: momentum is the share of the old value, the moving variance is biased.

    ``nn.BatchNorm2d`` keeps an unbiased variance and calls the share of the new value momentum.
    """

    def __init__(self, channels, momentum=0.99, epsilon=1e-3, scale=True, center=True):
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.weight = nn.Parameter(torch.ones(channels)) if scale else None
        self.bias = nn.Parameter(torch.zeros(channels)) if center else None
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            var, mean = torch.var_mean(x, tuple(range(x.dim() - 1)), correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 1 - self.momentum)
                self.running_var.lerp_(var, 1 - self.momentum)
        x = (x - mean) * torch.rsqrt(var + self.epsilon)
        x = x if self.weight is None else x * self.weight
        return x if self.bias is None else x + self.bias


class LayerNormalization(nn.Module):
    """Each example alone, over the last axis."""

    def __init__(self, channels, epsilon=1e-3, scale=True, center=True):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(channels)) if scale else None
        self.bias = nn.Parameter(torch.zeros(channels)) if center else None

    def forward(self, x):
        var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        x = (x - mean) * torch.rsqrt(var + self.epsilon)
        x = x if self.weight is None else x * self.weight
        return x if self.bias is None else x + self.bias


class Embedding(nn.Embedding):
    """A row for each whole number, whatever type it comes in."""

    def forward(self, x):
        return super().forward(x.long())


class Activation(nn.Module):
    """An activation function as a layer."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return activate(self.name, x)


class ReLU(nn.Module):
    """ReLU with a ceiling and a slope."""

    def __init__(self, max_value=None, negative_slope=0.0):
        super().__init__()
        self.max_value, self.negative_slope = max_value, negative_slope

    def forward(self, x):
        return torch.clamp(F.leaky_relu(x, self.negative_slope), max=self.max_value)


class ZeroPadding2D(nn.Module):
    """Zeros around images; negative margins cut."""

    def __init__(self, top, bottom, left, right):
        super().__init__()
        self.margins = (0, 0, left, right, top, bottom)

    def forward(self, x):
        return F.pad(x, self.margins)


class UpSampling2D(nn.Module):
    """Each pixel several times."""

    def __init__(self, rows, columns):
        super().__init__()
        self.rows, self.columns = rows, columns

    def forward(self, x):
        return x.repeat_interleave(self.rows, 1).repeat_interleave(self.columns, 2)


class SimpleRNN(nn.Module):
    """A recurrent layer, written out step by step; weights are laid out as in TensorFlow."""

    gates = 1

    def __init__(self, inputs, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 return_sequences=False, reset_after=False):  # fmt: skip
        super().__init__()
        width = self.gates * units
        self.units, self.activation, self.gate = units, activation, recurrent_activation
        self.return_sequences, self.reset_after = return_sequences, reset_after
        self.kernel = nn.Parameter(nn.init.xavier_uniform_(torch.empty(inputs, width)))
        self.recurrent_kernel = nn.Parameter(nn.init.orthogonal_(torch.empty(units, width)))
        self.bias = nn.Parameter(torch.zeros((2, width) if reset_after else width)) if use_bias else None

    def forward(self, x):
        bias = self.bias if self.bias is not None else x.new_zeros(2 if self.reset_after else 1, 1)
        given = x @ self.kernel + (bias[0] if self.reset_after else bias)
        state = (x.new_zeros(len(x), self.units),) * 2
        outputs = []
        for step in given.unbind(1):
            state = self.step(step, state, bias[1] if self.reset_after else 0)
            outputs.append(state[0])
        return torch.stack(outputs, 1) if self.return_sequences else outputs[-1]

    def step(self, given, state, bias):
        return (activate(self.activation, given + state[0] @ self.recurrent_kernel),)


class LSTM(SimpleRNN):
    """Gates in the order of TensorFlow: input, forget, candidate, output."""

    gates = 4

    def step(self, given, state, bias):
        hidden, cell = state
        i, f, c, o = (given + hidden @ self.recurrent_kernel).chunk(4, -1)
        i, f, o = (activate(self.gate, part) for part in (i, f, o))
        cell = f * cell + i * activate(self.activation, c)
        return o * activate(self.activation, cell), cell


class GRU(SimpleRNN):
    """Gates in the order of TensorFlow: update, reset, candidate."""

    gates = 3

    def step(self, given, state, bias):
        hidden = state[0]
        zr, c = given.split([2 * self.units, self.units], -1)
        if self.reset_after:
            past_zr, past = (hidden @ self.recurrent_kernel + bias).split([2 * self.units, self.units], -1)
        else:
            past_zr = hidden @ self.recurrent_kernel[:, : 2 * self.units]
        z, r = activate(self.gate, zr + past_zr).chunk(2, -1)
        past = r * past if self.reset_after else (r * hidden) @ self.recurrent_kernel[:, 2 * self.units :]
        return (z * hidden + (1 - z) * activate(self.activation, c + past),)
