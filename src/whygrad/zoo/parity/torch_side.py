"""Loss and gradients in torch: of the converted network, with or without a mistake, or of somebody's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from whygrad.zoo.parity.case import INFERENCE, MOVING, TRAINING, Arrays, Batch, Case, Key, Outcome
from whygrad.zoo.parity.dropping import Masks
from whygrad.zoo.parity.pairing import Found, pair
from whygrad.zoo.parity.setup import Setup, network_of, unbiased
from whygrad.zoo.parity.theirs import Script, call_theirs
from whygrad.zoo.tfjs import torch_models, torch_source
from whygrad.zoo.tfjs.network import Layer, Model, ModelError


class TorchSide:
    """Two networks, where their variables are, and how they are used."""

    framework = "torch"
    modes: tuple[str, ...] = (INFERENCE, TRAINING)

    def __init__(self, case: Case, setup: Setup | None = None):
        self.case, self.setup = case, setup or Setup()
        self.model = network_of(case.online, self.setup)
        self.online = torch_models.build(self.model)
        self.target = None if case.target is None else torch_models.build(network_of(case.target, self.setup))
        self.variables = _named(self.model, self.online)
        self.loss: Callable[[bool], Any] = self._own_loss
        self.masks = Masks(case.batch, self.setup.dropout)

    def outcome(self, mode: str) -> Outcome:
        """One forward and one backward pass; everything is as before afterwards."""
        before = self.read()
        training = mode == TRAINING
        self._set_modes(training)
        with fixed_dropout(self.masks):
            loss = self.loss(training)
        learning = {key: v for key, v in self.variables.items() if v.requires_grad}
        got = torch.autograd.grad(loss, list(learning.values()), allow_unused=True)
        gradients = {
            key: self._back(key, torch.zeros_like(v) if g is None else g)
            for (key, v), g in zip(learning.items(), got, strict=True)
        }
        after = self.read() if training else {}
        moving: Arrays = {key: array for key, array in after.items() if key[1] in MOVING}
        if self.setup.unbiased:
            moving = unbiased(moving, before, self.model, len(self.case.batch.states))
        self.write(before)
        return Outcome(
            float(loss.detach()), gradients, moving, self._outputs() if mode == INFERENCE else None
        )

    def read(self) -> dict[Key, np.ndarray]:
        """The weights, as TensorFlow lays them out."""
        return {key: self._back(key, v) for key, v in self.variables.items()}

    def write(self, arrays: Arrays) -> None:
        """Set the weights."""
        with torch.no_grad():
            for key, variable in self.variables.items():
                moved = torch_source.to_torch(self._layer(key), key[1], arrays[key])[1]
                variable.copy_(torch.from_numpy(np.ascontiguousarray(moved)).reshape(variable.shape))

    def optimize(self, make: Callable[[Any], Any] | None, steps: list[Arrays]) -> list[Arrays]:
        """The weights after each step of an optimizer that is fed these gradients."""
        optimizer = (
            make(self.online) if make else torch.optim.Adam(self.online.parameters(), lr=1e-3, eps=1e-7)
        )
        after: list[Arrays] = []
        for gradients in steps:
            for key, gradient in gradients.items():
                variable = self.variables[key]
                moved = torch_source.to_torch(self._layer(key), key[1], gradient)[1]
                variable.grad = torch.from_numpy(np.ascontiguousarray(moved)).reshape(variable.shape)
            optimizer.step()
            after.append(self.read())
        return after

    def _layer(self, key: Key) -> Layer:
        return self.model.network.layers[key[0]]

    def _back(self, key: Key, tensor: torch.Tensor) -> np.ndarray:
        array = tensor.detach().cpu().numpy().astype(np.float32)
        return np.array(torch_source.from_torch(self._layer(key), key[1], array))

    def _set_modes(self, training: bool) -> None:
        self.online.train(training)
        if self.setup.moving_norm:
            _norms(self.online, False)
        if self.target is not None:
            self.target.train(self.setup.training_target == "all")
            if self.setup.training_target == "norm":
                _norms(self.target, True)

    def _outputs(self) -> np.ndarray:
        self.online.eval()
        with torch.no_grad():
            return self.online(self._states(self.case.batch.states)).numpy()

    def _states(self, array: np.ndarray) -> torch.Tensor:
        flipped = array[..., ::-1] if self.setup.swapped_channels else array
        return torch.from_numpy(np.ascontiguousarray(flipped))

    def _own_loss(self, training: bool) -> torch.Tensor:
        return loss(self.setup, self.online, self.target, self.case.batch, self._states)


def loss(
    setup: Setup, online: Any, target: Any, batch: Batch, tensor: Callable[[np.ndarray], torch.Tensor]
) -> Any:
    """The loss of a DQN; or, without actions, of a regression."""
    q = online(tensor(batch.states))
    if batch.actions is None:
        assert batch.goals is not None
        return _reduce(setup, q - torch.from_numpy(batch.goals))
    assert batch.next_states is not None and batch.rewards is not None and batch.dones is not None
    rewards, dones = torch.from_numpy(batch.rewards), torch.from_numpy(batch.dones)
    next_states, gamma = tensor(batch.next_states), batch.gamma if setup.gamma is None else setup.gamma
    next_q = (online if setup.bootstrap != "target" else target)(next_states)
    best = next_q.mean(1) if setup.best == "mean" else next_q.amax(1)
    if setup.double:
        best = next_q.gather(1, online(next_states).argmax(1, keepdim=True)).squeeze(1)
    goal = rewards + gamma * best * (1 - dones if setup.masked else 1)
    taken = q.gather(1, torch.from_numpy(batch.actions).long()[:, None]).squeeze(1)
    error = (goal if setup.bootstrap == "leak" else goal.detach()) - taken
    return _reduce(setup, error, q.shape[1])


def _reduce(setup: Setup, error: torch.Tensor, actions: int = 1) -> torch.Tensor:
    zero = torch.zeros_like(error)
    losses = {
        "square": lambda: error**2,
        "huber": lambda: F.smooth_l1_loss(error, zero, reduction="none"),
        "absolute": lambda: error.abs(),
    }[setup.loss]()
    mean = losses.mean()
    return {"mean": mean, "sum": losses.sum(), "half": mean / 2, "actions": mean / actions}[setup.reduction]


@contextmanager
def fixed_dropout(masks: Masks) -> Iterator[None]:
    """While this lasts, dropout multiplies with the given masks."""
    real = F.dropout

    def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        return input * torch.from_numpy(masks.mask(tuple(input.shape), p)) if training and p > 0 else input

    F.dropout = dropout
    try:
        yield
    finally:
        F.dropout = real


def _norms(module: Any, training: bool) -> None:
    for part in module.modules():
        if hasattr(part, "running_mean"):
            part.train(training)


def _named(model: Model, module: Any) -> dict[Key, torch.Tensor]:
    names, tensors = (
        torch_source.identifiers(model),
        dict(module.named_parameters()) | dict(module.named_buffers()),
    )
    return {
        (layer, weight): tensors[
            f"{names[layer]}.{torch_source.to_torch(model.network.layers[layer], weight, array)[0]}"
        ]
        for (layer, weight), array in model.weights.items()
    }


class TheirTorch(TorchSide):
    """Somebody's own module: it gets the weights of the reference, and its own loss if the script has one."""

    def __init__(self, case: Case, script: Script, fill: bool = True):
        self.case, self.setup, self.model, self.script = case, Setup(), case.online, script
        self.fill = fill
        self.online = script.model
        self.target = None if case.target is None else call_theirs(script.make_model)
        self.masks = Masks(case.batch)
        self.variables = self._fill(self.online, case.online)
        if case.target is not None:
            self._fill(self.target, case.target)
        self.first = self._layout()
        self.loss = self._their_loss if script.loss else self._own_loss
        if script.loss and not script.loss_takes_mode:
            self.modes = (TRAINING,)

    def _fill(self, module: Any, model: Model) -> dict[Key, torch.Tensor]:
        variables = pair(model.network, _layers(module), self._shape)
        if not self.fill:
            return variables
        if self.script.load_weights:
            call_theirs(self.script.load_weights, module, model.named_weights())
        else:
            with torch.no_grad():
                for key, variable in variables.items():
                    layer = model.network.layers[key[0]]
                    moved = torch_source.to_torch(layer, key[1], model.weights[key])[1]
                    variable.copy_(torch.from_numpy(np.ascontiguousarray(moved)).reshape(variable.shape))
        return variables

    def _shape(self, layer: Layer, weight: str, tensor: torch.Tensor) -> tuple[int, ...]:
        try:
            return torch_source.from_torch(layer, weight, tensor.detach().numpy()).shape
        except ValueError:
            return tuple(tensor.shape)

    def _layout(self) -> bool:
        """Whether it wants channels first."""
        self.online.eval()
        states = torch.from_numpy(self.case.batch.states)
        problem = ""
        for first in (False, True) if states.dim() > 2 else (False,):
            try:
                with torch.no_grad():
                    self.online(states.movedim(-1, 1) if first else states)
                return first
            except Exception as error:
                problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"your network does not take a batch of shape {list(states.shape)}: {problem[:150]}")

    def _states(self, array: np.ndarray) -> torch.Tensor:
        tensor = torch.from_numpy(array)
        return tensor.movedim(-1, 1).contiguous() if self.first else tensor

    def _their_loss(self, training: bool) -> Any:
        b = self.case.batch
        batch = self.script.batch_of(b, self._states, torch.from_numpy)
        more = (training,) if self.script.loss_takes_mode else ()
        assert self.script.loss is not None
        value = call_theirs(self.script.loss, self.online, self.target, batch, *more)
        if not isinstance(value, torch.Tensor) or value.numel() != 1 or not value.requires_grad:
            raise ModelError(
                "your loss is not one number with a gradient: run whygrad run on your script to see why"
            )
        return value.reshape(())


_PLAIN: dict[str, str] = {"weight": "kernel"}
_NORM: dict[str, str] = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}


def _layers(module: Any) -> list[Found]:
    """Its layers with weights, in the order in which they were made, with our names for the weights."""
    found = []
    for label, part in module.named_modules():
        own: dict[str, Any] = dict(part.named_parameters(recurse=False)) | dict(
            part.named_buffers(recurse=False)
        )
        if "weight" not in own and "kernel" not in own and "running_mean" not in own:
            continue
        norm = "running_mean" in own or ("weight" in own and own["weight"].dim() == 1)
        weights: dict[str, Any] = {
            (_NORM if norm else _PLAIN).get(name, name): tensor for name, tensor in own.items()
        }
        if isinstance(part, torch.nn.Embedding):
            weights = {"embeddings": own["weight"]}
        if getattr(part, "groups", 1) > 1:
            weights["depthwise_kernel"] = weights.pop("kernel")
        found.append(Found(f"{type(part).__name__} ({label})", weights))
    return found
