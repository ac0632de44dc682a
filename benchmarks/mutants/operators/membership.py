"""What optimizers hold: too little, too much, what is no longer used, what is frozen."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, last

TORCH = ("torch",)


def layers(source: Source) -> Iterator[tuple[ast.Assign, ast.Call]]:
    """Layers that networks make in ``__init__``."""
    for network in parts.network_classes(source):
        for _, node in source.assigns(within=network):
            made = isinstance(node.value, ast.Call)
            if made and re.fullmatch(
                r"Linear|Dense|GRUCell|LSTMCell|Conv2d|Sequential", last(node.value.func)
            ):
                yield node, node.value


@operator("plain-list", "not-tracked", frameworks=TORCH)
def plain_list(source: Source) -> Iterator[Fault]:
    """Layers in a plain list."""
    for call in source.calls("ModuleList|ModuleDict|ParameterList"):
        if call.args:
            yield fault(source.replace(call, source.of(call.args[0])))


@operator("plain-tensor", "not-tracked", frameworks=TORCH)
def plain_tensor(source: Source) -> Iterator[Fault]:
    """A tensor with ``requires_grad`` where a Parameter was meant."""
    for call in source.calls("Parameter"):
        yield fault(source.replace(call, f"{source.of(call.args[0])}.requires_grad_()"))


@operator("layer-in-tuple", "not-tracked", frameworks=TORCH)
def layer_in_tuple(source: Source) -> Iterator[Fault]:
    """Layers kept in a tuple of one's own."""
    for node, call in layers(source):
        if source.framework == "torch" and last(call.func) == "Linear":
            name = source.of(node.targets[0])
            uses = [
                c
                for c in source.each(ast.Call)
                if source.of(c.func) == name and source.parents_class(c) is source.parents_class(node)
            ]
            edits = [source.wrap(c.func, "", "[0]") for c in uses]
            if edits:
                yield fault(source.wrap(call, "(", ",)"), *edits)
                return


@operator("half-optimizer", "not-in-optimizer", frameworks=TORCH)
def half_optimizer(source: Source) -> Iterator[Fault]:
    """Of two networks in one optimizer the second is left out."""
    for _, call in parts.optimizers(source).values():
        first = call.args[0] if call.args else None
        if isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):
            yield fault(source.replace(first, source.of(first.left)))


@operator("child-optimizer", "not-in-optimizer", frameworks=TORCH)
def child_optimizer(source: Source) -> Iterator[Fault]:
    """The optimizer gets one layer's parameters instead of the network's."""
    nets = parts.networks(source)
    for _, call in parts.optimizers(source).values():
        held = re.fullmatch(r"([\w.]+)\.parameters\(\)", source.of(call.args[0]) if call.args else "")
        if held and held[1] in nets:
            made = last(nets[held[1]][1].func)
            child = next((n for n, _ in layers(source) if source.parents_class(n).name == made), None)
            if child is not None:
                text = f"{held[1]}.{last(child.targets[0])}.parameters()"
                yield fault(source.replace(call.args[0], text))


@operator("other-networks-optimizer", "not-in-optimizer", "wrong-variables", frameworks=TORCH)
def other_network(source: Source) -> Iterator[Fault]:
    """An optimizer is given another network's parameters, a line copied and half changed."""
    found = [c for _, c in parts.optimizers(source).values() if c.args]
    for one in found:
        for other in found:
            text = source.of(other.args[0])
            if one is not other and "parameters()" in text and "parameters()" in source.of(one.args[0]):
                yield fault(source.replace(one.args[0], text))


@operator("network-replaced", "stale-optimizer", "not-in-optimizer", frameworks=TORCH)
def replaced(source: Source) -> Iterator[Fault]:
    """The network is made anew after the optimizer."""
    nets = parts.networks(source)
    for statement, call in parts.optimizers(source).values():
        held = re.fullmatch(r"([\w.]+)\.parameters\(\)", source.of(call.args[0]) if call.args else "")
        if held and held[1] in nets:
            made = source.of(nets[held[1]][1])
            yield fault(source.after(statement, f"{held[1]} = {made}"), also=source.lines(statement))


@operator("layer-replaced", "stale-optimizer", "not-in-optimizer", frameworks=TORCH)
def layer_replaced(source: Source) -> Iterator[Fault]:
    """A layer is replaced after the optimizer was made."""
    nets = parts.networks(source)
    for statement, call in parts.optimizers(source).values():
        held = re.fullmatch(r"([\w.]+)\.parameters\(\)", source.of(call.args[0]) if call.args else "")
        if held and held[1] in nets:
            made = last(nets[held[1]][1].func)
            mine = [(n, c) for n, c in layers(source) if source.parents_class(n).name == made]
            for node, layer in [pair for pair in mine if last(pair[1].func) == "Linear"][-1:]:
                name = f"{held[1]}.{last(node.targets[0])}"
                sizes = f"{name}.in_features, {name}.out_features"
                text = f"{name} = {source.of(layer.func)}({sizes})"
                yield fault(source.after(statement, text), also=source.lines(statement))


@operator("frozen-network", "frozen")
def frozen_network(source: Source) -> Iterator[Fault]:
    """An online network is frozen, not its target."""
    for name, (statement, call) in parts.networks(source).items():
        if parts.is_target(name) or last(call.func) == "deepcopy":
            continue
        torch = f"for p in {name}.parameters():\n    p.requires_grad = False"
        text = torch if source.framework == "torch" else f"{name}.trainable = False"
        yield fault(source.after(statement, text))


@operator("frozen-layer", "frozen")
def frozen_layer(source: Source) -> Iterator[Fault]:
    """One layer is frozen where it is made."""
    for node, call in layers(source):
        if source.framework == "torch":
            name = source.of(node.targets[0])
            yield fault(source.after(node, f"{name}.requires_grad_(False)"))
        elif last(call.func) == "Dense":
            yield fault(source.replace(call, source.of(call)[:-1] + ", trainable=False)"))


@operator("zero-rate", "no-step", "stalled")
def zero_rate(source: Source) -> Iterator[Fault]:
    """A learning rate of 0."""
    for rate in rates(source):
        yield fault(source.replace(rate, "0.0"))


@operator("tiny-rate", "stalled", "no-step")
def tiny_rate(source: Source) -> Iterator[Fault]:
    """A learning rate that moves nothing."""
    for rate in rates(source):
        yield fault(source.replace(rate, "1e-12"))


@operator("huge-rate", "exploding", "oscillating", "non-finite", "zero-gradient", "stalled")
def huge_rate(source: Source) -> Iterator[Fault]:
    """A learning rate that throws the weights about; any line will do."""
    everywhere = set(range(1, len(source.text.splitlines()) + 1))
    for rate in rates(source):
        yield fault(source.replace(rate, "10.0"), also=everywhere)


def rates(source: Source, *calls: ast.Call) -> Iterator[ast.expr]:
    """The learning rates that optimizers are made with."""
    for call in calls or [call for _, call in parts.optimizers(source).values()]:
        named = [k.value for k in call.keywords if k.arg in ("lr", "learning_rate")]
        plain = call.args[:1] if source.framework == "tensorflow" else call.args[1:2]
        yield from (named or plain)[:1]


@operator("optimizer-recreated", "optimizer-recreated")
def recreated(source: Source) -> Iterator[Fault]:
    """The optimizer is made anew before each update."""
    first = "zero_grad" if source.framework == "torch" else "apply_gradients|apply"
    for name, (statement, call) in parts.optimizers(source).items():
        text = source.of(statement)
        for rate in rates(source, call):
            text = text.replace(source.of(rate), "1e-3")  # its name may not be known there
        for place in parts.statements(source, first):
            if source.of(place).startswith(f"{name}."):
                yield fault(source.before(place, text))
