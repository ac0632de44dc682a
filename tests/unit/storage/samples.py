"""Recordings to write and to break: one with something in every field, and small ones that rules have much to say of."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import EnumMeta
from itertools import count
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from tests.unit.flow.build import Build, operation

from whygrad.model import (
    About,
    Backward,
    Evidence,
    Flow,
    Note,
    Observation,
    Recording,
    UpdateCount,
    Values,
)

_T = TypeVar("_T")


class _Array(Generic[_T]):
    """Stands for ``array``, which cannot be subscripted before Python 3.12."""


def actor_critic(cut: bool = True) -> Recording:
    """An actor that is cut off from its loss."""
    run = Build()
    actor, critic = run.network("actor"), run.network("critic")
    optimizer, other = run.optimizer("actor_opt", actor), run.optimizer("critic_opt", critic)
    for _ in range(3):
        action = run.call(actor, line=10)
        action = run.op("detach", action, line=11, carries=False) if cut else action
        loss = run.op("mean", run.call(critic, action, line=12), line=13)
        run.update(optimizer, run.backward(loss, line=14))
        run.update(other, run.backward(run.op("mean", run.call(critic, line=15), line=16), line=17))
    about = About(
        "train.py",
        ("--seed", "1"),
        ("torch",),
        (("python", "3.11"), ("torch", "2.13")),
        notes=(Note("hello"),),
    )
    source = "\n".join(f"line_{n} = {n}" for n in range(1, 20)) + "\n"
    updates = (UpdateCount("actor_opt", 3, 3, ("actor",)), UpdateCount("critic_opt", 3, 3, ("critic",)))
    return Recording(
        about, {"torch": Observation(run.evidence(), updates, version="2.13")}, {"train.py": source}
    )


class Everything:
    """Makes a value of any type of the model in which no field has its default value."""

    def __init__(self) -> None:
        self._numbers = count(2)

    def recording(self) -> Recording:
        """All of it, made to fit together."""
        made: Recording = self.make(Recording)
        ((name, seen),) = made.observed.items()
        evidence = seen.evidence
        keyed = {
            table: {value.key: value for value in getattr(evidence, table).values()}
            for table in ("parameters", "optimizers")
        }
        updates = tuple(replace(u, backwards=tuple(map(_closed, u.backwards))) for u in evidence.updates)
        crash = replace(evidence.crash, flow=_flow(), inputs=(1,))
        evidence = replace(
            evidence, updates=updates, loose=tuple(map(_closed, evidence.loose)), crash=crash, **keyed
        )
        return replace(made, observed={name: replace(seen, evidence=evidence)})

    def make(self, kind: Any) -> Any:
        """A value of this type."""
        if is_dataclass(kind):
            hints = get_type_hints(kind, localns={"array": _Array})
            return kind(**{f.name: self._other(f, hints[f.name]) for f in fields(kind)})
        origin, parts = get_origin(kind), get_args(kind)
        if origin is _Array:
            return array("f", [1.5, float(next(self._numbers))])
        if origin is tuple:
            return tuple(self.make(part) for part in (parts[:1] * 2 if parts[-1] is Ellipsis else parts))
        if origin is frozenset:
            return frozenset([self.make(parts[0]), self.make(parts[0])])
        if origin in (dict, Mapping):
            return {self.make(parts[0]): self.make(parts[1])}
        if origin is not None:  # X | None
            return self.make(parts[0])
        if isinstance(kind, EnumMeta):
            return list(kind)[-1]
        number = next(self._numbers)
        return {int: number, float: number + 0.5, str: f"text {number}", bool: True}[kind]

    def _other(self, field: Any, kind: Any) -> Any:
        return not field.default if kind is bool else self.make(kind)


def _flow() -> Flow:
    values = Values(-1.0, 2.0, 0.5)
    one = operation(1, "read", values=values)
    return Flow({1: one, 2: operation(2, "rsub", (1,), carries=True, numbers=(0.99,), shape=(2, 3), time=7)})


def _closed(backward: Backward) -> Backward:
    changed = tuple(replace(c, op=1) for c in backward.changed)
    return replace(
        backward,
        flow=_flow(),
        roots=(2,),
        exits=(1,),
        ends=(2,),
        unconnected=(1,),
        unused=(2,),
        changed=changed,
        shares={2: {3: 0.25}},
    )


def empty() -> Recording:
    """Of a script that imported nothing."""
    return Recording(About("nothing.py"))


def nothing_seen() -> Recording:
    """A framework was there, and nothing was trained."""
    return Recording(About("nothing.py"), {"torch": Observation(Evidence())})
