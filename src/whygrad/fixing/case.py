"""What a proposal is made from, and what it is: plain questions to a finding, its run and the source."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from whygrad.fixing.source import Node, Source
from whygrad.model import Finding, Mark, Run, Site

#: The source of a file of the user's as it stands now; nothing for a library's, or one that cannot be read.
Read = Callable[[str], Source | None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may cure a finding. Nobody sees it before it has been tried."""

    what: str  # in a few words
    files: Mapping[str, bytes]  # the new text of every file that it changes

    def size(self, before: Mapping[str, bytes]) -> tuple[int, int]:
        """How large it is: lines that differ, then characters that do."""
        lines = letters = 0
        for name, data in self.files.items():
            old, new = before[name].splitlines(), data.splitlines()
            for tag, i, j, m, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
                if tag != "equal":
                    lines += (j - i) + (n - m)
                    letters += _differing(b"\n".join(old[i:j]), b"\n".join(new[m:n]))
        return lines, letters


def new_line(old: bytes, new: bytes, line: int) -> int:
    """Where a line that stays has gone; 0 if it does not stay."""
    before, after = old.splitlines(), new.splitlines()
    for i, j, size in difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        if i < line <= i + size:
            return j + line - i
    return 0


def _differing(old: bytes, new: bytes) -> int:
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return len(old) + len(new) - 2 * sum(block.size for block in blocks)


@dataclass(frozen=True, slots=True)
class Case:
    """A finding, the run that it was found in, and the source."""

    finding: Finding
    run: Run
    read: Read

    @property
    def site(self) -> Site:
        """Where the finding points."""
        assert self.finding.site is not None
        return self.finding.site

    @property
    def source(self) -> Source | None:
        """The file that it points into."""
        return self.read(self.site.file)

    @property
    def in_torch(self) -> bool:
        """Which framework's words are needed."""
        return "tensorflow" not in self.run.frameworks

    @property
    def networks(self) -> tuple[str, ...]:
        """Those that suffer."""
        return tuple(part for part in self.finding.network.split(", ") if part)

    @property
    def other_networks(self) -> tuple[str, ...]:
        """All networks of the run that the finding does not speak of."""
        cells = (cell.network for m in self.run.gradient_map for t in m.terms for cell in t.networks)
        known = dict.fromkeys([*cells, *(n for u in self.run.updates for n in (*u.networks, *u.silent))])
        known.update(dict.fromkeys(role.network for role in self.run.roles))
        return tuple(name for name in known if name and name not in self.networks)

    def role(self, wanted: str) -> tuple[str, ...]:
        """The networks that have this role."""
        return tuple(role.network for role in self.run.roles if role.role == wanted)

    def steps(self, *marks: Mark) -> list[Site]:
        """The places of the chain with these marks; all of them without."""
        return [s.site for s in self.finding.chain if s.site and (not marks or s.mark in marks)]

    def losses(self) -> list[Site]:
        """The losses that the finding's networks are stepped on, else all."""
        mine = {*self.networks}
        found = [u.loss for u in self.run.updates if u.loss and mine & {*u.networks, *u.silent}]
        return found or [u.loss for u in self.run.updates if u.loss]

    def makers(self) -> list[Site]:
        """Where the finding's optimizer is made, else where any is."""
        named = [u.made for u in self.run.updates if u.made and u.optimizer == self.finding.optimizer]
        return named or [u.made for u in self.run.updates if u.made]

    def change(self, what: str, source: Source, changes: Mapping[Node, Node]) -> Iterator[Candidate]:
        """The candidate of these changes in one file; none where nothing would change."""
        data = source.changed(changes)
        if data != source.data:
            yield Candidate(what, {source.file: data})
