"""A network plays, and the games are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.zoo.snake.frames import Frame, Game
from whygrad.zoo.tfjs import converting
from whygrad.zoo.tfjs.network import ModelError

Values = Callable[[Any], Any]  # a board -> one value per action


class Player:
    """A trained network, and the board that it was trained on."""

    def __init__(self, path: Path):
        model = _load(path)
        shape = tuple(model.input_shape)
        if len(model.inputs) != 1 or len(shape) != 4 or shape[3] != 2 or None in shape[1:]:
            raise ModelError(f"{path} does not take a snake board [height, width, 2], but {list(shape[1:])}")
        if tuple(model.output_shape)[1:] != (3,):
            raise ModelError(f"{path} does not give 3 action values, but {list(model.output_shape[1:])}")
        import tensorflow as tf

        self.height, self.width = shape[1:3]
        self._values = tf.function(
            lambda x: model(x, training=False), input_signature=[tf.TensorSpec([1, *shape[1:]], tf.float32)]
        )

    def games(self, count: int, seed: int | None, fruits: int = 1, length: int = 2) -> Iterator[Game]:
        """So many games."""
        from whygrad.zoo.agents.snake_dqn import Snake

        random = np.random.default_rng(seed).random
        for _ in range(count):
            try:
                yield self._play(Snake(self.height, self.width, fruits, length, random))
            except ValueError as error:
                raise ModelError(str(error)) from None

    def _play(self, game: Any) -> Game:
        from whygrad.zoo.agents.snake_dqn import FRUIT, encode

        frames, eaten, hungry, ending = [], 0, 0, ""
        board = np.zeros((1, self.height, self.width, 2), np.float32)
        while not ending:
            encode(game, board[0])
            values = self._values(board).numpy()[0]
            action = int(values.argmax())
            frames.append(
                Frame(tuple(game.body), tuple(game.fruits), eaten, tuple(map(float, values)), action)
            )
            reward, done = game.step(action)
            eaten, hungry = (eaten + 1, 0) if reward == FRUIT else (eaten, hungry + 1)
            if done:
                ending = "won" if reward == FRUIT else "died"
            elif hungry > 4 * self.height * self.width:
                ending = "went in circles"
        frames.append(Frame(tuple(game.body), tuple(game.fruits), eaten))
        return Game(self.height, self.width, tuple(frames), ending)


def _load(path: Path) -> Any:
    if path.is_dir() and not (path / "model.json").exists():
        for name in ("best.keras", "last.keras"):  # where `whygrad train snake --save DIR` leaves them
            if (path / name).exists():
                path = path / name
                break
    if not path.exists():
        raise ModelError(f"there is no {path}")
    with converting.needs("tensorflow"):
        import tensorflow  # noqa: F401  # what the game's file needs, too

        from whygrad.zoo.tfjs import keras_models

        if path.suffix in converting.KERAS_FILES:
            return keras_models.load(path)
        return keras_models.build(converting.read(path))
