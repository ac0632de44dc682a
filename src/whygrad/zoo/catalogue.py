"""The reference agents as files on a shelf: found, read, copied and broken without importing them."""

from __future__ import annotations

import ast
import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "agents"


class NotThere(LookupError):
    """No such agent, or no such way to break it; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Break:
    """One line of an agent, and what a rule's bug would make of it: other words, or another place."""

    rule: str
    says: str
    old: str
    new: str
    move: int = 0  # that many lines down, or up if it is negative
    args: tuple[str, ...] = ()

    def apply(self, text: str) -> tuple[str, int]:
        """The bugged text, and the number of the changed line."""
        lines = text.splitlines(keepends=True)
        places = [i for i, line in enumerate(lines) if line.strip() == self.old]
        if len(places) != 1:
            raise NotThere(f"the line that {self.rule} changes is there {len(places)} times: {self.old}")
        line = lines.pop(places[0])
        indent = line[: len(line) - len(line.lstrip())]
        place = places[0] + self.move
        lines.insert(place, f"{indent}{self.new}\n")
        return "".join(lines), place + 1

    @property
    def told(self) -> str:
        """The change in a few words."""
        if self.new != self.old:
            return f"`{self.old}` became `{self.new}`"
        return f"`{self.old}` was moved {abs(self.move)} {'down' if self.move > 0 else 'up'}"


@dataclass(frozen=True, slots=True)
class Agent:
    """A script in the agents' room."""

    name: str
    path: Path

    @property
    def text(self) -> str:
        """The file as it is written."""
        return self.path.read_text(encoding="utf-8")

    @property
    def line(self) -> str:
        """What it says of itself: the first line of its docstring, without its own name."""
        first = (ast.get_docstring(ast.parse(self.text)) or "").partition("\n")[0]
        return first.strip()

    def knows(self, option: str) -> bool:
        """Whether the script has this command line option."""
        nodes = ast.walk(ast.parse(self.text))
        return any(isinstance(node, ast.Constant) and node.value == option for node in nodes)

    @property
    def breaks(self) -> dict[str, Break]:
        """The ways to break it, by rule; kept beside it in a file of the same name."""
        table = self.path.with_suffix(".breaks.toml")
        if not table.exists():
            return {}
        rows = tomllib.loads(table.read_text(encoding="utf-8"))
        return {
            rule: Break(
                rule,
                row["says"],
                row["old"],
                row.get("new", row["old"]),
                row.get("move", 0),
                tuple(row.get("args", ())),
            )
            for rule, row in rows.items()
        }

    def broken(self, rule: str) -> Break:
        """The break of this rule, or the nearest names."""
        if rule in self.breaks:
            return self.breaks[rule]
        have = ", ".join(self.breaks) or "none"
        raise NotThere(f"{self.name} cannot be broken by {rule!r}. It can be by: {have}")


def agents() -> dict[str, Agent]:
    """Every agent on the shelf: a script with a docstring whose name is public."""
    found = (Agent(path.stem, path) for path in sorted(HERE.glob("[!_]*.py")))
    return {agent.name: agent for agent in found if agent.line}


def agent(name: str) -> Agent:
    """The agent of this name or whose name begins so, or a sentence with the nearest one."""
    every = agents()
    begins = [known for known in every if known.startswith(f"{name}_")]
    if name in every or len(begins) == 1:
        return every[name if name in every else begins[0]]
    near = difflib.get_close_matches(name, every, 1)
    hint = f": did you mean {near[0]}?" if near else f". There are: {', '.join(every)}"
    raise NotThere(f"there is no agent {name!r}{hint}")
