"""The words that all rules share: who suffers, lists, code, lines, and the finding itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from whygrad.model import Finding, Parameter, Site, Step
from whygrad.rules import rewrite
from whygrad.rules.cause import Cause

_PART = re.compile(r"(?:[^.\[]|\[[^\]]*\])+")
_PART_OF_LAYER = re.compile(r"(weight|bias|running_|in_proj|_|(\w+_)?kernel$|embeddings$|moving_)")
_SCALE = re.compile(r"(?i).*(norm|bn)\w*\.(gamma|beta)$")
# What Keras calls layers that nobody has named: such a part of a name is no attribute.
_UNNAMED = re.compile(r"(\.(\w+_)?(dense|conv\dd|lstm|gru|rnn|embedding|normalization|sequential)(_\d+)?)+$")
_INDEX = re.compile(r"\.(\d+)(?=\.|\[|$)")  # ``net.0`` is written ``net[0]``
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

    @property
    def their(self) -> str:
        """The pronoun, as an owner."""
        return "their" if self.several else "its"

    def does(self, singular: str, plural: str) -> str:
        """The name(s) with the verb: ``actor gets``, ``actor and critic get``."""
        return f"{self} {plural if self.several else singular}"


def who(cause: Cause) -> Who:
    """The networks, or the parts of networks, that suffer.

    A network of which every parameter suffers is called by its own name.
    """
    by_network: dict[str, list[str]] = {}
    for parameter in cause.subjects:
        by_network.setdefault(_network(parameter), []).append(parameter.name)
    found: list[str] = []
    for network, names in by_network.items():
        whole = network in cause.whole
        part = network if whole else common(names) or network
        split = _split(network, names) if part == network and not whole else ()
        found += split if split and not cause.by_network else (part,)
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
            inside = (o for o in owners if name == o or name.startswith((f"{o}.", f"{o}[")))
            owner = next(inside, _PART.findall(name)[0])
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


def power(number: float) -> str:
    """A threshold as one writes it: ``1e-8``."""
    return f"{number:.0e}".replace("e-0", "e-").replace("e+0", "e")


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


def near(site: Site | None, here: Site | None) -> str:
    """`` (line 41)`` behind a word, or `` (train.py:41)`` from another file; empty if it is not known."""
    return f" ({place(site, here)})" if site else ""


def in_scope(name: str, source: str) -> str:
    """A network as the line itself would call it: ``agent.critic`` is ``self.critic`` inside of the agent."""
    root, _, rest = name.partition(".")
    inside = "self." in source and not re.search(rf"(?<![\w.]){re.escape(root)}\b", source)
    return f"self.{rest}" if inside and rest else name


def through(cause: Cause) -> str:
    """The call behind the cut, e.g. ``critic(s, a)``: what a masked cut keeps the network from."""
    cuts = [n for n, step in enumerate(cause.chain) if step.mark]
    if not cuts:
        return _loss(cause)
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
    lost = f"{subject.does('does', 'do')} not learn through {through(cause)}"
    return f"{lost}: {by} (another term of the loss still moves {subject.it})"


def hiding(cause: Cause) -> str:
    """What not to do about a gradient that is missing; a masked cut raises nothing to be silenced."""
    return "" if cause.masked else cause.dialect.hiding


def variables(cause: Cause, source: str = "") -> str:
    """The list to ask gradients for, as one writes it: ``trunk.trainable_variables + [log_std]``."""
    networks, single = parts(cause, source)
    return " + ".join((*map(cause.dialect.listed, networks), *(f"[{name}]" for name in single)))


def parts(cause: Cause, source: str = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who suffers as one would write it in this line: networks and layers, and parameters by themselves."""
    alone = {p.name for p in cause.subjects if not _part_of_layer(p.name)}
    names = who(cause).names
    layered = dict.fromkeys(in_scope(attribute(name), source) for name in names if name not in alone)
    return tuple(layered), tuple(in_scope(name, source) for name in names if name in alone)


def attribute(name: str) -> str:
    """The largest part of a name that one can write: layers that nobody has named are no attributes."""
    owner = name.rpartition(".")[0] if _part_of_layer(name) else name
    return _INDEX.sub(r"[\1]", _UNNAMED.sub("", owner))


def _part_of_layer(name: str) -> bool:
    owner, _, last = name.rpartition(".")
    if name.endswith("]"):
        return False  # params['0.weight']: that point is a part of a key
    return bool(owner) and bool(_PART_OF_LAYER.match(last) or _SCALE.match(name))


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
        chain=cause.chain,
        why=why,
        avoid=avoid,
        optimizer=cause.optimizer,
        first_update=cause.first_update,
        updates=cause.updates,
    )


def write(new: str) -> str:
    """What to write in the place of a line; nothing is left of one that gives a variable to itself."""
    return "delete this line" if rewrite.is_idle(new) else f"write {code(new, LONG)}"


def source(cause: Cause) -> str:
    """The culprit line without its comment, empty where it could not be read."""
    return rewrite.uncommented(cause.site.code) if cause.site else ""


def _network(parameter: Parameter) -> str:
    return parameter.network or parameter.name.split(".")[0]
