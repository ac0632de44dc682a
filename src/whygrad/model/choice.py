"""Which rules the user wants to hear of."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.model.site import Site


@dataclass(frozen=True, slots=True)
class Choice:
    """Only these rules, if there are any; and not those. ``by`` says where it was written."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    by: str = ""
    trouble: tuple[str, ...] = ()  # what is wrong with how it was written

    def against(self, rule: str) -> str:
        """Why this rule is not wanted; empty if it is."""
        if rule in self.ignore:
            return f"ignore, {self.by}" if self.by else "ignore"
        if self.select and rule not in self.select:
            return f"not in select, {self.by}" if self.by else "not in select"
        return ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A finding that the user does not want to hear of: counted, and told with who said so."""

    rule: str
    title: str
    site: Site | None
    by: str  # "comment", or what a Choice says
