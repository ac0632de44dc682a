"""The mistakes that people make when they port a network, each with the words for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from whygrad.zoo.parity.setup import Setup


@dataclass(frozen=True)
class Mistake:
    """One change to how an update is computed, and what to tell the person who made it."""

    slug: str
    what: str
    fix: str
    change: dict[str, Any]

    def apply(self, setup: Setup) -> Setup:
        """The same computation with this mistake."""
        return replace(setup, **self.change)

    def fits(self, setup: Setup) -> bool:
        """Whether it is another matter than the mistakes that are already in."""
        return all(getattr(setup, name) == getattr(Setup(), name) for name in self.change)


_EPSILON = "BatchNormalization's epsilon is 1e-3 in TensorFlow and 1e-5 in torch: nn.BatchNorm2d(n, eps=1e-3)"
_MOMENTUM = (
    "TensorFlow's momentum is the share of the old value, torch's that of the new one: "
    "0.99 there is nn.BatchNorm2d(n, momentum=0.01)"
)
_TARGET = "it must use its moving statistics: target(next_states, training=False), or target.eval()"
_HALF = "the reference has mean(square(goal - q))"

# What changes the loss or the gradients.
IN_GRADIENTS = (
    Mistake("batch-norm-epsilon", "batch normalisation with epsilon 1e-5", _EPSILON, {"epsilon": 1e-5}),
    Mistake(
        "batch-norm-epsilon",
        "batch normalisation with epsilon 1e-3",
        "use the epsilon of the reference",
        {"epsilon": 1e-3},
    ),
    Mistake(
        "flatten-order",
        "the image is flattened channels first",
        "TensorFlow flattens height, width, channels: x.permute(0, 2, 3, 1).flatten(1) in torch",
        {"channels_first_flatten": True},
    ),
    Mistake(
        "kernel-layout",
        "height and width of the kernels are swapped",
        "from HWIO to OIHW is transpose(3, 2, 0, 1), not transpose(3, 2, 1, 0)",
        {"swapped_kernels": True},
    ),
    Mistake(
        "input-channels",
        "the channels of the input are in the opposite order",
        "encode the input as the reference does",
        {"swapped_channels": True},
    ),
    Mistake(
        "batch-norm-mode",
        "the online network normalises with its moving statistics while it trains",
        "call it in training mode: online(states, training=True), or online.train()",
        {"moving_norm": True},
    ),
    Mistake(
        "target-mode",
        "the target network normalises with the batch, as in training mode",
        _TARGET,
        {"training_target": "norm"},
    ),
    Mistake(
        "target-mode",
        "the target network runs in training mode, dropout included",
        _TARGET,
        {"training_target": "all"},
    ),
    Mistake("no-dropout", "dropout is missing", "apply it in training mode", {"dropout": "none"}),
    Mistake(
        "dropout-unscaled",
        "dropout does not scale up what it keeps",
        "divide by 1 - rate while training",
        {"dropout": "unscaled"},
    ),
    Mistake(
        "inference-mode",
        "the online network runs in inference mode: moving statistics and no dropout",
        "call it in training mode: online(states, training=True), or online.train()",
        {"moving_norm": True, "dropout": "none"},
    ),
    Mistake(
        "done-mask",
        "the value of the next state is not masked at the end of an episode",
        "reward + gamma * (1 - done) * next_value",
        {"masked": False},
    ),
    Mistake("sum-not-mean", "the loss is a sum over the batch", _HALF, {"reduction": "sum"}),
    Mistake("half-loss", "the loss is halved", _HALF, {"reduction": "half"}),
    Mistake(
        "action-mask",
        "the loss is averaged over all actions, not only the one that was taken",
        "pick q of the action first, then average over the batch",
        {"reduction": "actions"},
    ),
    Mistake("huber-loss", "the loss is Huber's (smooth L1)", _HALF, {"loss": "huber"}),
    Mistake(
        "huber-loss", "the loss is Huber's (smooth L1), summed", _HALF, {"loss": "huber", "reduction": "sum"}
    ),
    Mistake("absolute-loss", "the loss is the absolute error", _HALF, {"loss": "absolute"}),
    Mistake(
        "double-q",
        "the online network chooses the next action (double Q-learning)",
        "the reference takes the maximum over the target network",
        {"double": True},
    ),
    Mistake(
        "no-target-network",
        "the next state is judged by the online network",
        "use the target network there",
        {"bootstrap": "online"},
    ),
    Mistake(
        "target-leak",
        "the next state is judged by the online network, and differentiated through",
        "use the target network, outside the gradient",
        {"bootstrap": "leak"},
    ),
    Mistake(
        "mean-not-max",
        "the mean over the next actions is taken, not the maximum",
        "take the maximum",
        {"best": "mean"},
    ),
    Mistake(
        "batch-norm-order",
        "batch normalisation comes before the activation",
        "in the reference it comes after: Conv2D(activation='relu'), then BatchNormalization",
        {"norm_first": True},
    ),
    Mistake(
        "no-activation",
        "the activation is missing",
        "put the relu of the reference in",
        {"activation": "linear"},
    ),
    Mistake("other-activation", "the activation is elu, not relu", "use relu", {"activation": "elu"}),
    Mistake("other-activation", "the activation is tanh, not relu", "use relu", {"activation": "tanh"}),
    *(
        Mistake("gamma", f"gamma is {gamma:g}", "use the gamma of the reference", {"gamma": gamma})
        for gamma in (0.0, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
    ),
)

# What only the moving statistics show.
IN_MOVING = (
    *(
        Mistake(
            "batch-norm-momentum",
            f"batch normalisation keeps {kept:g} of the old moving statistics",
            _MOMENTUM,
            {"momentum": kept},
        )
        for kept in (0.9, 0.01, 0.1, 0.999, 0.99, 0.95)
    ),
    Mistake(
        "unbiased-variance",
        "the moving variance is unbiased (times n / (n - 1))",
        "TensorFlow keeps the biased one; torch's BatchNorm cannot, so update it by hand: "
        "running_var.lerp_(x.var(dims, correction=0), 0.01)",
        {"unbiased": True},
    ),
)
