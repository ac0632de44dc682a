"""The words that all rules share: who suffers, lists, code, lines, and the finding itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from whygrad.model import Finding, Parameter, Site, Step
from whygrad.rules import rewrite
from whygrad.rules.cause import Cause

_PART = re.compile(r"(?:[^.\[]|\[[^\]]*\])+")
_PART_OF_LAYER = re.compile(r"(weight|bias|running_|in_proj|_|(\w+_)?kernel$|embeddings$|moving_)")
_SCALE = re.compile(r"(?i).*(norm|bn)\w*\.(gamma|beta)$")
# What Keras calls layers that nobody has named: such a part of a name is no attribute.
_UNNAMED = re.compile(r"(\.(\w+_)?(dense|conv\dd|lstm|gru|rnn|embedding|normalization|sequential)(_\d+)?)+$")
LONG = 160  # a line to paste is shown in full


@dataclass(frozen=True, slots=True)
class Who:
    """The subject of a sentence: ``actor``, or ``actor and critic``."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return listed(self.names)

    @property
    def several(self) -> bool:
        """Does the verb go into the plural?"""
        return len(self.names) > 1

    @property
    def it(self) -> str:
        """The pronoun, as an object."""
        return "them" if self.several else "it"

    @property
    def they(self) -> str:
        """The pronoun, as a subject."""
        return "they" if self.several else "it"

    def does(self, singular: str, plural: str) -> str:
        """The name(s) with the verb: ``actor gets``, ``actor and critic get``."""
        return f"{self} {plural if self.several else singular}"


def who(cause: Cause) -> Who:
    """The networks, or the parts of networks, that suffer.

    The detail ``whole`` names the networks of which every parameter suffers (``yes``: all of them do).
    """
    whole = cause.details.get("whole", "").split(", ")
    by_network: dict[str, list[str]] = {}
    for parameter in cause.subjects:
        by_network.setdefault(_network(parameter), []).append(parameter.name)
    found: list[str] = []
    for network, names in by_network.items():
        part = network if network in whole or whole == ["yes"] else common(names) or network
        split = _split(network, names) if part == network and network not in whole else ()
        in_parts = on_tensorflow(cause) and whole != ["yes"] and not cause.rule.startswith("stale-")
        found += split if in_parts and split else (part,)
    return Who(tuple(found) or ("nothing",))


def _split(network: str, names: Sequence[str]) -> tuple[str, ...]:
    """The few parts of a network that suffer, where the whole of it does not."""
    parts: dict[str, list[str]] = {}
    for name in names:
        rest = name.removeprefix(f"{network}.")
        parts.setdefault(rest.partition(".")[0] if rest != name else "", []).append(name)
    return () if "" in parts or len(parts) > 3 else tuple(common(group) for group in parts.values())


def networks(cause: Cause) -> str:
    """The names of the networks that suffer, as the finding carries them."""
    return ", ".join(dict.fromkeys(_network(p) for p in cause.subjects))


def common(names: Sequence[str]) -> str:
    """The largest part of a network that holds these parameters: ``actor.net``."""
    split = [_PART.findall(name) for name in names]
    shared: list[str] = []
    for parts in zip(*split, strict=False):
        if len(set(parts)) > 1:
            bases = {part.partition("[")[0] for part in parts}
            shared += bases if len(bases) == 1 else ()  # heads['reach'] and heads['push'] are both in heads
            break
        shared.append(parts[0])
    return ".".join(shared)


def layers(names: Iterable[str]) -> tuple[str, ...]:
    """The layers of these parameters; a parameter that is no layer's weight stands for itself."""
    found: dict[str, None] = {}
    for name in names:
        owner = name.rpartition(".")[0]
        found[owner if _part_of_layer(name) else name] = None
    return tuple(found)


def summed(names: Sequence[str], network: str = "", most: int = 3) -> str:
    """Parameters for display: ``actor.net.0, actor.net.2 (4 parameters)``, or ``actor (12 parameters)``."""
    shown = layers(names)
    if len(shown) > most:
        owners = network.split(", ") if network else []
        parts: dict[str, list[str]] = {}
        for name in names:
            owner = next((o for o in owners if name == o or name.startswith(f"{o}.")), name.split(".")[0])
            parts.setdefault(owner, []).append(name)
        shown = tuple(common(group) for group in parts.values())
    text = ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
    return text if tuple(names) == shown else f"{text} ({count(len(names), 'parameter')})"


def listed(names: Sequence[str], most: int = 4) -> str:
    """``a``, ``a and b``, ``a, b and c``; long lists end in ``and 5 more``."""
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def count(number: int, noun: str) -> str:
    """``1 parameter``, ``4 parameters``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def code(text: str, most: int = 88) -> str:
    """Source text in a sentence, shortened where it is very long."""
    flat = " ".join(text.split())
    return f"`{flat if len(flat) <= most else flat[: most - 3].rstrip() + '...'}`"


def at(line: str) -> str:
    """`` (line 41)`` or `` (train.py:41)``; nothing where the line is not known."""
    if not line:
        return ""
    return f" ({line})" if ":" in line else f" (line {line})"


def place(site: Site | None, here: Site | None = None) -> str:
    """Where something is: ``line 41`` of the same file, or ``train.py:41``."""
    if site is None:
        return ""
    if here is not None and site.file == here.file:
        return f"line {site.line}"
    return f"{PurePath(site.file).name}:{site.line}"


def in_scope(name: str, source: str) -> str:
    """A network as the line itself would call it: ``agent.critic`` is ``self.critic`` inside of the agent."""
    root, _, rest = name.partition(".")
    inside = "self." in source and not re.search(rf"(?<![\w.]){re.escape(root)}\b", source)
    return f"self.{rest}" if inside and rest else name


def through(cause: Cause) -> str:
    """The call behind the cut, e.g. ``critic(s, a)``: what a masked cut keeps the network from."""
    given = cause.details.get("through", "")
    cuts = [n for n, step in enumerate(cause.chain) if step.cut]
    if given or not cuts:
        return given or _loss(cause)
    here, after = cause.chain[cuts[-1]], cause.chain[cuts[-1] + 1 :]
    lines = [step.site.code if step.site else step.what for step in after if not _inside_network(step)]
    calls = rewrite.calls_around(here.site.code if here.site else "", here.what)
    calls += [call for line in lines for call in rewrite.calls(line)]
    return calls[0] if calls else _loss(cause)


def _inside_network(step: Step) -> bool:
    return step.site is not None and step.site.function in ("forward", "__call__", "call")


def _loss(cause: Cause) -> str:
    return f"the loss at {place(cause.loss, cause.site)}" if cause.loss else "this path"


def starved(cause: Cause, by: str) -> str:
    """The title of a cut: no gradient at all, or none through the term that was meant."""
    subject = who(cause)
    if not cause.masked:
        return f"{subject.does('gets', 'get')} no gradient: {by}"
    alive = cause.details.get("alive") or "another term of the loss"
    lost = f"{subject.does('does', 'do')} not learn through {through(cause)}"
    return f"{lost}: {by} ({alive} still moves {subject.it})"


def no_fake_root(cause: Cause) -> str:
    """What not to do about a loss without gradient; a masked cut raises no error to be silenced."""
    return (
        "" if cause.masked else "`loss.requires_grad = True`: the error goes, the gradient does not come back"
    )


def on_tensorflow(cause: Cause) -> bool:
    """Was it a TensorFlow program? PyTorch is what the rules speak otherwise."""
    return cause.details.get("framework") == "tensorflow"


def no_filtering(cause: Cause) -> str:
    """What not to do about ``None`` gradients in TensorFlow; a masked cut gives none."""
    if cause.masked:
        return ""
    return (
        'filtering out the `None` gradients, or `unconnected_gradients="zero"`: the message goes away, '
        "the variables still do not learn"
    )


def variables(cause: Cause, source: str = "") -> str:
    """The list to ask a tape for, as one writes it: ``trunk.trainable_variables + [log_std]``."""
    alone = {p.name for p in cause.subjects if not _part_of_layer(p.name)}
    parts: dict[str, None] = {}
    for name in who(cause).names:
        here = in_scope(name if name in alone else attribute(name), source)
        parts[f"[{here}]" if name in alone else f"{here}.trainable_variables"] = None
    return " + ".join(parts)


def attribute(name: str) -> str:
    """The largest part of a name that one can write: layers that nobody has named are no attributes."""
    owner = name.rpartition(".")[0] if _part_of_layer(name) else name
    return _UNNAMED.sub("", owner)


def _part_of_layer(name: str) -> bool:
    owner, _, last = name.rpartition(".")
    return bool(owner) and bool(_PART_OF_LAYER.match(last) or _SCALE.match(name))


def assigned_state(cause: Cause) -> tuple[str, str]:
    """Why what goes through ``Variable.assign`` is lost, and what to write instead."""
    line = source(cause)
    held, value = rewrite.assigned_by_call(line)
    use = f"the tensor `{value}`, not `{held}`," if held else "the tensor itself, not the variable,"
    return (
        f"`assign` copies numbers into a `tf.Variable`: what is read from it later has no history, and to "
        f"`tape.gradient` all that {who(cause)} did is a constant.",
        f"use {use} on the way to the loss: pass the state in and return it; `assign` it only after "
        "`tape.gradient`",
    )


def say(cause: Cause, title: str, why: str, fix: str, avoid: str = "") -> Finding:
    """The finding for this cause."""
    return Finding(
        rule=cause.rule,
        title=title,
        site=cause.site,
        fix=fix,
        severity=cause.severity,
        confidence=cause.confidence,
        network=networks(cause),
        subjects=tuple(p.name for p in cause.subjects),
        chain=_tape_chain(cause) if on_tensorflow(cause) else cause.chain,
        why=why,
        avoid=avoid,
        optimizer=cause.optimizer,
        first_update=cause.first_update,
        updates=cause.updates,
    )


def _tape_chain(cause: Cause) -> tuple[Step, ...]:
    """The chain in TensorFlow's words; attribution says the same for both frameworks."""
    chain = cause.chain
    if cause.rule in ("not-in-optimizer", "not-tracked") and len(chain) == 3:
        return (chain[0], Step("is not among the variables that are asked for", chain[1].site, cut=True))
    if cause.rule == "frozen" and chain:
        return (chain[0], Step("trainable = False", cause.site, cut=True))
    if cause.rule == "stale-optimizer" and len(chain) == 3:
        known = f"{cause.optimizer or 'the optimizer'} knows only the old variables"
        return (chain[0], replace(chain[1], what="the loss depends on it"), replace(chain[2], what=known))
    return tuple(replace(step, what=_tape_words(step.what)) for step in chain)


def _tape_words(what: str) -> str:
    if what.endswith(".step() is never called"):
        return what.replace(".step()", ".apply_gradients(...)")
    said = {"autograd.grad": "tape.gradient", "no optimizer holds it": "no apply_gradients gets it"}
    return said.get(what, what)


def source(cause: Cause) -> str:
    """The culprit line without its comment, empty where it could not be read."""
    return rewrite.uncommented(cause.site.code) if cause.site else ""


def _network(parameter: Parameter) -> str:
    return parameter.network or parameter.name.split(".")[0]
