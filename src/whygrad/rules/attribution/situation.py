"""The evidence, with the questions that every attribution asks of it."""

from __future__ import annotations

from functools import cached_property

from whygrad.flow.bootstraps import Bootstrap, bootstraps
from whygrad.flow.paths import Reach, living_values
from whygrad.flow.sums import Parts
from whygrad.flow.terms import Term, terms
from whygrad.model import Backward, Evidence, Look, Optimizer, Parameter, Update

_MOST_TERMS = 32


class Situation:
    """A read-only view of the evidence. Searches are done once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._living: dict[int, set[int]] = {}
        self._terms: dict[tuple[int, int], list[tuple[Term, Reach]]] = {}
        self._reaches: dict[tuple[int, int], Reach] = {}
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
        """The terms of a loss and what each depends on; those of one line and operation once."""
        key = (backward.number, since)
        known = self._terms.get(key)
        if known is None:
            seen: dict[object, Term] = {}
            for root in backward.roots:
                for term in (*terms(backward.flow, root, deep=False), *terms(backward.flow, root)):
                    seen.setdefault((term.op.site, term.op.name, term.scalar), term)
            chosen = list(seen.values())[:_MOST_TERMS]
            known = [(term, Reach(backward.flow, [term.op.id], since)) for term in chosen]
            self._terms[key] = known
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
            known = self._parts[backward.number] = Parts(backward.flow)
        return known

    def bootstraps(self, backward: Backward) -> list[Bootstrap]:
        """The bootstrap targets that this loss regresses on."""
        known = self._bootstraps.get(backward.number)
        if known is None:
            known = list(bootstraps(self.parts(backward), self.living(backward)))
            self._bootstraps[backward.number] = known
        return known

    @cached_property
    def backwards(self) -> tuple[Backward, ...]:
        """Every recorded backward once, in order."""
        found = {b.number: b for u in self.evidence.updates for b in u.backwards}
        found.update((b.number, b) for b in self.evidence.loose)
        return tuple(found[n] for n in sorted(found))

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
