"""What happens to gradients and weights between the operations: clipping, clearing, copying."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.model.site import Site


@dataclass(frozen=True, slots=True)
class Clip:
    """One call that limits gradients.

    ``kind`` is ``norm``, ``value``, ``hand`` (written out by the user) or ``dropped`` (clipped copies
    that were never put back). ``before`` is the norm, or the largest element, as the call found it.
    """

    site: Site | None
    time: int
    kind: str = "norm"
    parameters: frozenset[int] = frozenset()
    present: frozenset[int] = frozenset()  # of them, those that had a gradient
    threshold: float | None = None
    before: float | None = None
    fresh: frozenset[int] = frozenset()  # had a gradient that no step had used yet
    awaited: bool = False  # a backward followed that wrote the gradients of these parameters anew
    ready: bool = False  # ... of a loss that had been computed before the clip
    scaled: bool = False  # a loss scaler had made these gradients larger, and had not undone it yet


@dataclass(frozen=True, slots=True)
class Clear:
    """One call that forgets gradients: ``zero_grad()``, ``p.grad = None``, ``p.grad.zero_()``."""

    site: Site | None
    time: int
    parameters: frozenset[int] = frozenset()
    by: str = "zero_grad"
    owner: str = ""  # the optimizer or the module that was asked


@dataclass(frozen=True, slots=True)
class Flag:
    """Zeros and ones, one for each sample, that the user holds by this name beside a loss."""

    name: str
    site: Site  # the line beside which they were found
    within: bool = False  # a one was seen before the last of them: they are not those of one episode
    ones: tuple[int, ...] = ()  # how many ones, and of how many


SHARED = "shared"  # how a parameter was given the memory of another one


@dataclass(frozen=True, slots=True)
class Copy:
    """Weights written into another parameter: ``target = own * target + factor * source``.

    ``factor`` and ``own`` are ``None`` where the arithmetic was not seen. A whole copy has 1 and 0.
    """

    source: int
    target: int
    site: Site | None
    how: str = "copy_"
    factor: float | None = None
    own: float | None = None
    first: int = 0  # time of the first and of the last one from this line
    last: int = 0
    times: int = 1
    callers: tuple[Site, ...] = ()  # the lines that called the site, innermost first


@dataclass(frozen=True, slots=True)
class Handover:
    """Gradients of some parameters put into others by hand: ``shared.grad = local.grad``, on one line."""

    site: Site | None
    sources: frozenset[int] = frozenset()
    targets: frozenset[int] = frozenset()
    times: tuple[int, ...] = ()  # of the last few rounds


@dataclass(frozen=True, slots=True)
class Switch:
    """A network was told to train, or to evaluate: ``net.train()``, ``net.eval()``."""

    site: Site | None
    time: int
    training: bool
    parameters: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of the user for the very same parameters."""

    names: tuple[str, ...]
    parameters: frozenset[int]
