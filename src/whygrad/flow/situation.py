"""The evidence, with the questions that rules, gradient map, roles and drawing ask of it."""

from __future__ import annotations

from functools import cached_property

from whygrad.flow.arrays import with_arrays
from whygrad.flow.bootstraps import Bootstrap, bootstraps
from whygrad.flow.distributions import projected
from whygrad.flow.paths import Reach, ancestors, living_values
from whygrad.flow.sums import Parts
from whygrad.flow.terms import Term, terms, written
from whygrad.flow.unreached import loss_to_come, optimizer_to_come
from whygrad.model import Backward, Evidence, Kind, Look, Optimizer, Parameter, Update

_MOST_TERMS = 32
_MANY = 100  # steps after which the loop has come round, whatever the source says


class Situation:
    """A read-only view of the evidence. Searches are done once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._living: dict[int, set[int]] = {}
        self._terms: dict[tuple[int, int], list[tuple[Term, Reach]]] = {}
        self._reaches: dict[tuple[int, int], Reach] = {}
        self._behind: dict[tuple[int, int, int], Reach] = {}
        self._parts: dict[int, Parts] = {}
        self._bootstraps: dict[int, list[Bootstrap]] = {}

    def reach(self, backward: Backward, since: int = 0) -> Reach:
        """All ways that lead to what this backward differentiated; cuts before ``since`` are old ones."""
        key = (backward.number, since)
        known = self._reaches.get(key)
        if known is None:
            known = self._reaches[key] = Reach(backward.flow, backward.roots, since)
        return known

    def terms(self, backward: Backward, since: int = 0) -> list[tuple[Term, Reach]]:
        """The terms of a loss and what each depends on; those that were written once, once."""
        key = (backward.number, since)
        known = self._terms.get(key)
        if known is None:
            seen: dict[object, Term] = {}
            for root in backward.roots:
                for term in (*terms(backward.flow, root, deep=False), *terms(backward.flow, root)):
                    seen.setdefault(written(backward.flow, term), term)
            chosen = list(seen.values())[:_MOST_TERMS]
            known = [(term, self.behind(backward, term.op.id, since)) for term in chosen]
            self._terms[key] = known
        return known

    def behind(self, backward: Backward, op: int, since: int = 0) -> Reach:
        """All ways that lead to one value of this backward's flow."""
        key = (backward.number, op, since)
        known = self._behind.get(key)
        if known is None:
            known = self._behind[key] = Reach(backward.flow, [op], since)
        return known

    def living(self, backward: Backward) -> set[int]:
        """The values that gradient of this loss arrives at."""
        known = self._living.get(backward.number)
        if known is None:
            known = self._living[backward.number] = living_values(backward.flow, backward.roots)
        return known

    def parts(self, backward: Backward) -> Parts:
        """Its values, to be taken apart."""
        known = self._parts.get(backward.number)
        if known is None:
            flow = with_arrays(backward, self.living(backward))
            known = self._parts[backward.number] = Parts(flow)
        return known

    def bootstraps(self, backward: Backward) -> list[Bootstrap]:
        """The bootstrap targets that this loss regresses on, if it was seen being made."""
        known = self._bootstraps.get(backward.number)
        if known is None:
            whole = self.whole(backward)
            parts, living = self.parts(backward), self.living(backward)
            known = [*bootstraps(parts, living), *projected(parts, living)] if whole else []
            self._bootstraps[backward.number] = known
        return known

    @cached_property
    def backwards(self) -> tuple[Backward, ...]:
        """Every recorded backward once, in order."""
        found = {b.number: b for u in self.evidence.updates for b in u.backwards}
        found.update((b.number, b) for b in self.evidence.loose)
        return tuple(found[n] for n in sorted(found))

    def whole(self, backward: Backward) -> bool:
        """Was the loss seen being made, or at least as much of it as is ever seen?

        Recording begins between two steps: a loss that was computed before them is there, and what it is made
        of is not. Where the same line shows more in another update, nothing is concluded from this one.
        """
        return backward.number not in self._in_part

    @cached_property
    def _in_part(self) -> frozenset[int]:
        seen: dict[object, list[tuple[int, int]]] = {}
        for b in self.backwards:
            seen.setdefault((b.site, b.follower), []).append((_unseen(b), b.number))
        fewest = {line: min(unseen for unseen, _ in found) for line, found in seen.items()}
        return frozenset(n for line, found in seen.items() for unseen, n in found if unseen > fewest[line])

    @cached_property
    def cut_short(self) -> bool:
        """A crash, an interruption, or a look while it runs: the rest of the script was not reached."""
        return self.evidence.running or not self.evidence.finished

    def awaits_loss(self, optimizer: Optimizer) -> bool:
        """May the loss that trains the rest of what this optimizer holds not have been reached yet?"""
        crash = self.evidence.crash
        waited_for = crash is not None and bool(crash.unused & optimizer.held)  # by distributed training
        if not self.cut_short or optimizer.steps >= _MANY or waited_for:
            return False
        if optimizer.held <= self.evidence.always_absent.get(optimizer.key, frozenset()):
            return False  # it steps on nothing at all: that was its loss
        run = [b.site for b in self.backwards]
        return optimizer.steps < 2 or loss_to_come(run, (s.file for s in run if s is not None))

    @cached_property
    def awaits_optimizer(self) -> bool:
        """May an optimizer that holds the rest not have been made yet?"""
        optimizers = self.evidence.optimizers.values()
        if not self.cut_short or any(o.steps >= _MANY for o in optimizers):
            return False
        made = [o.made for o in optimizers]
        sites = (*made, *(b.site for b in self.backwards))
        return optimizer_to_come(made, (s.file for s in sites if s is not None))

    def updates(self, optimizer: Optimizer) -> tuple[Update, ...]:
        """The recorded updates of one optimizer."""
        return tuple(u for u in self.evidence.updates if u.optimizer == optimizer.key)

    def looks(self, optimizer: Optimizer) -> tuple[Look, ...]:
        """The figures of its updates. Of a compiled one the record says nothing: it was traced, not run."""
        updates = self.updates(optimizer)
        if not any(u.largest for u in updates):
            return self.evidence.looks.get(optimizer.key, ())
        values = [u.backwards[-1].value if u.backwards else None for u in updates]
        return tuple(
            Look(u.number, u.largest, u.moved, u.turned, value)
            for u, value in zip(updates, values, strict=True)
        )

    @cached_property
    def holders(self) -> dict[int, tuple[Optimizer, ...]]:
        """Parameter -> the optimizers that hold it."""
        found: dict[int, tuple[Optimizer, ...]] = {}
        for optimizer in self.evidence.optimizers.values():
            for key in optimizer.held:
                found[key] = (*found.get(key, ()), optimizer)
        return found

    def parameters(self, keys: object) -> tuple[Parameter, ...]:
        """These parameters, in order of their making."""
        known = self.evidence.parameters
        return tuple(known[k] for k in sorted(keys) if k in known)  # type: ignore[call-overload]

    @cached_property
    def unheld(self) -> frozenset[int]:
        """Parameters that some backward reached and no optimizer holds."""
        reached = (
            frozenset[int]().union(*(b.reached for b in self.backwards)) if self.backwards else frozenset()
        )
        roots = {b.flow[r].parameter for b in self.backwards for r in b.roots if r in b.flow.ops}
        known = self.evidence.parameters
        return frozenset(k for k in reached - roots if k not in self.holders and known[k].lasting)

    @cached_property
    def crossed(self) -> dict[int, int]:
        """Whose gradient was applied to another parameter -> that parameter."""
        return {owner: other for u in self.evidence.updates for other, owner in u.crossed}

    @cached_property
    def rejected(self) -> frozenset[int]:
        """Parameters that an optimizer was given and did not take."""
        return frozenset(k for u in self.evidence.updates for k in u.rejected)

    def is_copy(self, key: int) -> bool:
        """A target or reference network: copied from one that is itself still being trained."""
        parameter = self.evidence.parameters[key]
        if not parameter.copy_of:
            return False
        return any(
            self.evidence.parameters[k].network == parameter.copy_of and self.evidence.parameters[k].alive
            for k in (*self.holders, *self.unheld)
            if k in self.evidence.parameters
        )


def _unseen(backward: Backward) -> int:
    """How many of the values behind a loss were computed while nothing was recorded."""
    unseen = {op.id for op in backward.flow.ops.values() if op.kind is Kind.UNSEEN}
    if not unseen:
        return 0
    return len(unseen & set[int]().union(*(ancestors(backward.flow, root) for root in backward.roots)))
