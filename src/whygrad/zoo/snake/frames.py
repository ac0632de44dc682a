"""The nouns: a game is frames, and a frame is where everything lies. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

Square = tuple[int, int]  # (y, x)
ACTIONS = ("straight", "left", "right")


@dataclass(frozen=True, slots=True)
class Frame:
    """The board before a move, and what the network thinks of the moves. The last frame has no move."""

    body: tuple[Square, ...]
    fruits: tuple[Square, ...]
    eaten: int
    values: tuple[float, ...] = ()
    action: int | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """One game from the first frame to the end."""

    height: int
    width: int
    frames: tuple[Frame, ...]
    ending: str  # died, won, went in circles

    @property
    def eaten(self) -> int:
        """Fruit in the whole game."""
        return self.frames[-1].eaten

    @property
    def summary(self) -> str:
        """One line."""
        fruit = "1 fruit" if self.eaten == 1 else f"{self.eaten} fruits"
        return f"{fruit} in {len(self.frames) - 1} moves, then {self.ending}"
