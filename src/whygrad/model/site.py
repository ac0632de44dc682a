"""A place in somebody's source file."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.model import source


@dataclass(frozen=True, slots=True)
class Site:
    """One line, in the words of the person who wrote it."""

    file: str
    line: int
    function: str = "<module>"
    code: str = ""

    @classmethod
    def read(cls, file: str, line: int, function: str = "<module>") -> Site:
        """The site with its source text, empty where the source cannot be read."""
        return cls(file, line, function, source.line(file, line).strip())

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a source file, as they were when the script ran."""

    file: str
    first: int
    lines: tuple[str, ...]
