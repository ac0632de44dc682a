"""What an operator is: a fault that people make, the rules that name it, and how it is put into a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from mutants.source import Edit, Source, edited, whole_statements

BOTH = ("torch", "tensorflow")


@dataclass(frozen=True)
class Fault:
    """Edits, and the lines that count as right: those of the edits (unless not ``own``) and old ones."""

    edits: tuple[Edit, ...]
    also: frozenset[int] = frozenset()
    own: bool = True


Finder = Callable[[Source], Iterator[Fault]]


@dataclass(frozen=True)
class Operator:
    """A named way to spoil programs."""

    name: str
    rules: tuple[str, ...]
    find: Finder = field(repr=False)
    frameworks: tuple[str, ...] = BOTH
    crashes: bool = False  # where it does not, it is no fault

    @property
    def file(self) -> str:
        """The name of the file that it was written in: ``cuts``."""
        return self.find.__module__.rpartition(".")[2]


@dataclass(frozen=True)
class Mutant:
    """A spoilt program."""

    program: str
    operator: str
    framework: str
    rules: tuple[str, ...]
    lines: frozenset[int]
    text: str = field(repr=False)
    number: int = 0

    @property
    def name(self) -> str:
        """Short, and the same in every run."""
        return f"{self.program}-{self.operator}-{self.number}"


OPERATORS: dict[str, Operator] = {}


def operator(
    name: str, *rules: str, frameworks: tuple[str, ...] = BOTH, crashes: bool = False
) -> Callable[[Finder], Finder]:
    """Register a generator of faults under a name; the first rule is the one that is meant."""

    def register(find: Finder) -> Finder:
        OPERATORS[name] = Operator(name, rules, find, frameworks, crashes)
        return find

    return register


def operators_named(words: Iterable[str]) -> list[str]:
    """Names of operators, in their order: each word is such a name, or a pattern of files such as ``later*``."""
    found = set()
    for word in words:
        fits = [o.name for o in OPERATORS.values() if word == o.name or fnmatchcase(o.file, word)]
        if not fits:
            raise ValueError(f"no operator and no file of operators is called {word!r}")
        found.update(fits)
    return [name for name in OPERATORS if name in found]


def fault(*edits: Edit, also: set[int] | frozenset[int] = frozenset(), own: bool = True) -> Fault:
    """A fault from its edits."""
    return Fault(edits, frozenset(also), own)


def mutants_of(program: str, source: Source, operator: Operator) -> Iterator[Mutant]:
    """Every mutant that one operator makes of one program."""
    if source.framework not in operator.frameworks:
        return
    texts = {source.text}
    for number, found in enumerate(operator.find(source)):
        try:
            result = edited(source, found.edits)
            lines = {result.moved[n] for n in found.also} | (result.touched if found.own else set())
            lines = whole_statements(result.text, lines)
        except (SyntaxError, ValueError):
            continue  # it does not fit this program
        if result.text not in texts:
            texts.add(result.text)
            yield Mutant(program, operator.name, source.framework, operator.rules, lines, result.text, number)
