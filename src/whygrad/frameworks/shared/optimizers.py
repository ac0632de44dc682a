"""The life of optimizers: one record for each of them, and how often they have stepped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.records import OptimizerRecord

_FIRST_DEAD, _LAST_DEAD = 16, 48  # that are kept whole; those between them are only counted


class Optimizers:
    """Everybody who steps. Dead ones stay, although their address may be used again."""

    def __init__(self) -> None:
        self.by_address: dict[int, OptimizerRecord] = {}  # of those that are gone: minus their key
        self.steps = 0  # of all of them, as far as they were counted one by one
        self._tidy_at = _FIRST_DEAD + 2 * _LAST_DEAD

    def made(self, optimizer: Any, where: Where | None) -> OptimizerRecord:
        """A new one."""
        known = self.by_address
        old = known.pop(id(optimizer), None)
        if old is not None:
            known[-old.key] = old
        if len(known) >= self._tidy_at:
            self._tidy()
        record = known[id(optimizer)] = OptimizerRecord(optimizer, where)
        return record

    def _tidy(self) -> None:
        """A script may make optimizers all day: of those that are gone, the first and the last are kept."""
        known = self.by_address
        dead = sorted((r.key, a) for a, r in known.items() if r.ref() is None and not r.by_hand)
        heirs: dict[tuple[Where | None, str], OptimizerRecord] = {}
        for _, address in dead[:_FIRST_DEAD]:
            heirs.setdefault((known[address].made, known[address].kind), known[address])
        for _, address in dead[_FIRST_DEAD:-_LAST_DEAD]:
            heir = heirs.setdefault((known[address].made, known[address].kind), known[address])
            if heir is not known[address]:
                heir.stands_for(known.pop(address))
        self._tidy_at = len(known) + _LAST_DEAD

    def add(self, record: OptimizerRecord) -> None:
        """One that nobody has made."""
        self.by_address[-record.key] = record

    def of(self, optimizer: Any) -> OptimizerRecord | None:
        """The record of this very object."""
        record = self.by_address.get(id(optimizer))
        return record if record is not None and record.ref() is optimizer else None

    def record(self, optimizer: Any) -> OptimizerRecord:
        """The same; of an optimizer that was made before we came, a new one."""
        return self.of(optimizer) or self.made(optimizer, None)

    def all(self) -> list[OptimizerRecord]:
        """In the order in which they were made. Another thread may make one meanwhile."""
        return list(self.by_address.values())

    def copies(self, params: Mapping[int, Param], names: Mapping[int, str]) -> list[OptimizerRecord]:
        """All of them, for a look that has seen these parameters and found these names."""
        return [r.copy(params, names.get(id(r.ref()), r.name)) for r in self.all()]

    def __len__(self) -> int:
        return len(self.by_address)

    def begin_anew(self) -> None:
        """In a forked child: none of them has made a step here."""
        self.steps = 0
        for record in self.all():
            record.begin_anew()

    # -- counting ----------------------------------------------------------------------------------

    def count(self, record: OptimizerRecord, steps: int = 1) -> None:
        """It has stepped so often; those that were only noted on its record are counted with it."""
        record.steps += steps
        self.steps += record.steps - record.told
        record.told, record.last_step_number = record.steps, self.steps

    def at_least(self, record: OptimizerRecord, steps: int) -> None:
        """It is known to have stepped so often, whoever has counted."""
        record.steps = max(record.steps, steps)

    def taken(self) -> int:
        """All steps, those included that were only noted."""
        return sum(record.steps + record.others[1] for record in self.all())

    def last_step(self) -> int:
        """When everybody's last step was over: what is older belongs to an earlier update."""
        return min((record.last_step for record in self.all() if record.steps), default=0)

    def name(self, names: Mapping[int, str]) -> None:
        """By the addresses at which the user's variables have them."""
        for record in self.all():
            record.name = names.get(id(record.ref()), record.name)
