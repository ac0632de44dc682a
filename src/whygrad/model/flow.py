"""What was computed from what: operations and parameters, without a single tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whygrad.model.health import Values
from whygrad.model.kinds import Kind
from whygrad.model.site import Site


@dataclass(frozen=True, slots=True)
class Block:
    """A region in which gradients are off: ``no_grad``, ``inference_mode``, a decorated function.

    Or a ``tape`` that did not see an operation: ``kind`` is then ``before``, ``after``, ``paused`` or
    ``unwatched``, and ``site`` is where the tape begins.
    """

    kind: str
    site: Site
    tape: bool = False


UNRANKED = (-2,)


@dataclass(frozen=True, slots=True)
class Op:
    """One value and the operation that made it.

    An operation with several results is several ``Op``: each result carries gradient, or does not.
    ``kind`` is what it means, and what judging asks for; ``name`` is the operation as the user wrote it
    (``detach``, ``argmax``, ``linear``), for words only; ``api`` is the framework's own function that called
    it, where that is not the user (``Normal.sample``). ``inputs`` are in the order of the formula: ``(a, b)``
    for ``a - b``, also where the framework was called in reverse.
    """

    id: int
    name: str
    inputs: tuple[int, ...] = ()
    carries: bool = False
    site: Site | None = None
    callers: tuple[Site, ...] = ()  # the lines that called the site, innermost first
    api: str = ""
    block: Block | None = None
    floating: bool = True
    shape: tuple[int, ...] = ()  # -1: a length that is known when it runs; ``UNRANKED``: not even how many
    parameter: int | None = None
    fresh: bool = False  # came into the framework from plain data here
    left: bool = False  # left the framework here (a number, a list, an array)
    via: str = ""  # how a value that left was recognised when it came back
    numbers: tuple[float, ...] = ()  # plain numbers among the arguments of arithmetic: 0.99 in 0.99 * q
    swapped: bool = False  # the number stands before the input: 1 - x, 1 / x, 2 ** x
    odd: bool = False  # a mask made of data that holds something else than 0 and 1
    ones: tuple[
        int, ...
    ] = ()  # of a factor that is nothing but zeros and ones: how many ones, and of how many
    walked: int = 0  # the earlier backward that has already gone through it
    time: int = 0
    values: Values | None = None  # what was in it; looked at only where something is wrong
    kind: Kind = Kind.OTHER
    axes: tuple[int, ...] = ()  # the dimensions it works along, from the front; where a transposed one was
    scored: bool = False  # nothing has become of it but its log-probability
    groups: tuple[
        int, ...
    ] = ()  # of data minus the mean of its groups: how many have no spread, and of how many
    training: bool | None = None  # it went through dropout or batch normalisation, in this mode


@dataclass(frozen=True, slots=True)
class Parameter:
    """A trainable value under the name that its owner gave it."""

    key: int
    name: str
    network: str
    shape: tuple[int, ...] = ()
    trainable: bool = True
    made: tuple[Site, ...] = ()  # innermost first: the layer's line, then whoever called it
    frozen_at: Site | None = None
    frozen_when: int = 0  # the time of that, which is the key of whatever is made then; 0: not known
    replaced_at: Site | None = None
    replaced_when: int = 0
    captured_at: Site | None = None  # where a compiled function took it, if nobody else has it any more
    untracked_in: str = ""  # the module that uses it and does not list it among its parameters
    untracked_how: str = ""  # plain list, plain dict, attribute, non-leaf, outside the module
    copy_of: str = ""  # the network whose weights it was copied from
    written: bool = False  # something has changed its values
    trained: bool = False  # some optimizer step has changed it
    loaded: bool = False  # its values came from a checkpoint or another network
    used: bool = False  # took part in a recorded forward pass
    hidden: bool = False  # took part in one that was transformed, where nobody sees
    moved: bool = True  # its values are not those of its first use any more
    lasting: bool = True  # a parameter, not an input that asked for gradients once
    alive: bool = True  # the user's program can still reach it (not only the optimizer)


@dataclass(frozen=True, slots=True)
class Flow:
    """The part of a computation that led to some values."""

    ops: Mapping[int, Op] = field(default_factory=dict)

    def __getitem__(self, op: int) -> Op:
        return self.ops[op]

    def parameter(self, op: int) -> int | None:
        """The parameter that a value is, or was just read from."""
        here = self.ops[op]
        if here.parameter is None and here.kind is Kind.READ and here.inputs:
            here = self.ops[here.inputs[0]]
        return here.parameter
