"""From the topology in model.json, or a Keras config, to a checked network. Both have dialects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whygrad.zoo.tfjs import kinds, options
from whygrad.zoo.tfjs.network import Call, Layer, ModelError, Network, Shape

MOST_LAYERS = 5000
_MODELS = ("Sequential", "Model", "Functional")
_Ref = tuple[str, int]  # a layer's name, and which of its calls


def parse(topology: Any) -> Network:
    """The network that a topology describes."""
    if isinstance(topology, Mapping) and "model_config" in topology:
        topology = topology["model_config"]
    builder = _Builder()
    outputs = builder.model(topology, None, 0)
    if not builder.inputs:
        raise ModelError("the model does not say the shape of its input")
    name = topology["config"].get("name") if isinstance(topology["config"], Mapping) else None
    name = name if isinstance(name, str) else "model"
    return Network(name, builder.layers, tuple(builder.calls), tuple(builder.inputs), tuple(outputs))


class _Builder:
    """Calls in order; models inside models are taken apart, since their layers' names are unique anyway."""

    def __init__(self) -> None:
        self.layers: dict[str, Layer] = {}
        self.calls: list[Call] = []
        self.inputs: list[int] = []

    def model(self, raw: Any, given: list[int] | None, depth: int) -> list[int]:
        """Add a model that reads these calls, or inputs of its own; which calls are its outputs?"""
        kind, config = _class_and_config(raw)
        if kind not in _MODELS:
            raise ModelError(
                f"the topology is a {str(kind)[:40]!r}; only Sequential and functional models can be read"
            )
        if depth > 8:
            raise ModelError("models are nested more than 8 deep")
        if kind == "Sequential":
            return self._sequential(config, given, depth)
        return self._functional(config, given, depth)

    def _sequential(self, config: Any, given: list[int] | None, depth: int) -> list[int]:
        layers = _list(config.get("layers") if isinstance(config, Mapping) else config, "layers")
        current = given
        for raw in layers:
            kind, options_ = _class_and_config(raw)
            if current is None:
                if kind in _MODELS:
                    current = self.model(raw, None, depth + 1)
                    continue
                current = [self.input(_name(options_) + ("" if kind == "InputLayer" else "_input"), options_)]
            if kind == "InputLayer":
                continue
            current = self.model(raw, current, depth + 1) if kind in _MODELS else [self.call(raw, current)]
        if current is None:
            raise ModelError("the model has no layers")
        return current

    def _functional(self, config: Any, given: list[int] | None, depth: int) -> list[int]:
        if not isinstance(config, Mapping):
            raise ModelError("the topology's config is not an object")
        made: dict[_Ref, int] = {}
        inputs = [ref for ref, _ in _references(config.get("input_layers"))]
        if given is not None:
            if len(given) != len(inputs):
                raise ModelError(f"a model inside has {len(inputs)} inputs and is given {len(given)}")
            made |= zip(inputs, given, strict=True)
        for raw, node, refs in _in_order(_list(config.get("layers"), "layers")):
            kind, options_ = _class_and_config(raw)
            name = _name(options_, raw)
            if kind == "InputLayer":
                if (name, 0) not in made:
                    made[name, 0] = self.input(name, options_)
            elif kind in _MODELS:
                outputs = self.model(raw, [made[ref] for ref in refs], depth + 1)
                if len(outputs) != 1:
                    raise ModelError(
                        f"the model {name!r} inside has {len(outputs)} outputs; one is supported"
                    )
                made[name, node] = outputs[0]
            else:
                made[name, node] = self.call(raw, [made[ref] for ref in refs])
        if given is None:
            if not all(ref in made for ref in inputs):
                raise ModelError("the model names an input layer that it does not have")
            self.inputs[:] = [made[ref] for ref in inputs]
        ends = [ref for ref, _ in _references(config.get("output_layers"))]
        missing = [name for name, node in ends if (name, node) not in made]
        if missing or not ends:
            raise ModelError(
                f"the model's output {str((missing or ['?'])[0])[:60]!r} is not one of its layers"
            )
        return [made[ref] for ref in ends]

    def input(self, name: str, config: Mapping[str, Any]) -> int:
        """An input of the whole model."""
        shape = config.get("batch_input_shape", config.get("batch_shape"))
        if not isinstance(shape, list | tuple) or not shape:
            raise ModelError("the model does not say the shape of its input")
        try:
            sides: Shape = tuple(None if n is None else options.whole()(n) for n in shape[1:])
        except ValueError as error:
            raise ModelError(f"a dimension of the input's shape {str(list(shape))[:60]} {error}") from None
        if len(sides) > 6:
            raise ModelError(f"the input has {len(sides)} dimensions")
        self._add(Layer(name, "InputLayer", {"shape": sides, "dtype": _dtype(config)}))
        self.calls.append(Call(name, (), sides))
        self.inputs.append(len(self.calls) - 1)
        return self.inputs[-1]

    def call(self, raw: Any, inputs: list[int]) -> int:
        """A layer reads these calls. A layer that is called again keeps its weights."""
        kind, config = _class_and_config(raw)
        name = _name(config, raw)
        made, shape = kinds.layer(kind, name, config, tuple(self.calls[i].shape for i in inputs))
        if name not in self.layers:
            self._add(made)
        elif self.layers[name] != made or not raw.get("inbound_nodes"):
            raise ModelError(f"two layers are called {name!r}")
        self.calls.append(Call(name, tuple(inputs), shape))
        if len(self.calls) > MOST_LAYERS:
            raise ModelError(f"the model has more than {MOST_LAYERS} layers")
        return len(self.calls) - 1

    def _add(self, layer: Layer) -> None:
        if layer.name in self.layers:
            raise ModelError(f"two layers are called {layer.name!r}")
        self.layers[layer.name] = layer


def _in_order(layers: list[Any]) -> Iterator[tuple[Any, int, list[_Ref]]]:
    """Every call after those that it reads."""
    if len(layers) > MOST_LAYERS:
        raise ModelError(f"the model has more than {MOST_LAYERS} layers")
    calls: dict[_Ref, tuple[Any, int, list[_Ref]]] = {}
    for raw in layers:
        kind, config = _class_and_config(raw)
        name = _name(config, raw)
        nodes = (
            [None] if kind == "InputLayer" else _list(raw.get("inbound_nodes"), f"inbound_nodes of {name!r}")
        )
        if not nodes:
            raise ModelError(f"the layer {name!r} is joined to nothing")
        for i, node in enumerate(nodes):
            if (name, i) in calls:
                raise ModelError(f"two layers are called {name!r}")
            calls[name, i] = (raw, i, [] if node is None else [ref for ref, _ in _references(node)])
    readers: dict[_Ref, list[_Ref]] = {}
    waiting = {}
    for ref, (_, _, reads) in calls.items():
        unknown = [read for read in reads if read not in calls]
        if unknown:
            raise ModelError(
                f"the layer {ref[0]!r} reads from {str(unknown[0][0])[:60]!r}, which is not there"
            )
        waiting[ref] = len(reads)
        for read in reads:
            readers.setdefault(read, []).append(ref)
    ready = [ref for ref, count in waiting.items() if not count]
    done = 0
    while done < len(ready):
        yield calls[ready[done]]
        for reader in readers.get(ready[done], ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
        done += 1
    if done < len(calls):
        raise ModelError("the layers are joined in a circle")


def _references(node: Any) -> list[tuple[_Ref, int]]:
    """The calls that a node reads, in the dialect of Keras 2 and TensorFlow.js or in that of Keras 3."""
    if isinstance(node, Mapping):
        given = node.get("kwargs") or {}
        extra = [
            k for k, v in given.items() if v not in (None, False, True) and k not in ("mask", "training")
        ]
        if extra:
            raise ModelError(f"a layer is called with {str(extra[0])[:40]!r}, which is not supported")
        found = [_keras_tensor(part) for part in _tensors(node.get("args"))]
    else:
        items = _list(node, "reference to a layer")
        found = [_triple(item) for item in ([items] if items and isinstance(items[0], str) else items)]
    if any(tensor for _, tensor in found):
        raise ModelError("a layer with more than one output is not supported")
    return found


def _triple(item: Any) -> tuple[_Ref, int]:
    match item:
        case [str(name), int(node), int(tensor), *rest] if not any(rest):
            return (name, node), tensor
    raise ModelError(f"this reference to a layer cannot be read: {str(item)[:60]}")


def _tensors(args: Any) -> Iterator[Any]:
    for arg in _list(args, "args"):
        if isinstance(arg, list):
            yield from arg
        else:
            yield arg


def _keras_tensor(part: Any) -> tuple[_Ref, int]:
    match part:
        case {"class_name": "__keras_tensor__", "config": {"keras_history": history}}:
            return _triple(history)
    raise ModelError("a layer is called with something that no layer made; that is not supported")


def _class_and_config(raw: Any) -> tuple[Any, Any]:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("class_name"), str) or "config" not in raw:
        raise ModelError("the topology holds something that is not a layer (no class_name and config)")
    config = raw["config"]
    if raw["class_name"] not in _MODELS and not isinstance(config, Mapping):
        raise ModelError("the config of a layer is not an object")
    return raw["class_name"], config


def _name(config: Any, raw: Any = None) -> str:
    name = config.get("name") if isinstance(config, Mapping) else None
    if raw is not None and isinstance(raw.get("name"), str):
        name = raw["name"]
    if not isinstance(name, str) or not 0 < len(name) <= 500 or not name.isprintable():
        raise ModelError(f"a layer has no proper name: {str(name)[:60]!r}")
    return name


def _dtype(config: Mapping[str, Any]) -> str:
    dtype = config.get("dtype") or config.get("input_dtype") or "float32"
    if dtype not in ("float32", "int32"):
        raise ModelError(f"inputs of type {str(dtype)[:40]!r} are not supported")
    return str(dtype)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ModelError(f"the topology has no list of {what}")
    return list(value)
