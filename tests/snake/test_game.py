"""The game: every recorded game of the original, step for step, from the same random numbers."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from whygrad.zoo.agents.snake_dqn import DOWN, LEFT, RIGHT, TURN_RIGHT, UP, Snake, encode

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "game" / "traces.json").read_text())
DIRECTIONS = {"r": RIGHT, "u": UP, "l": LEFT, "d": DOWN}


def mulberry32(state: int):
    """The generator that stood in for Math.random."""

    def random() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        t = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & 0xFFFFFFFF)) & 0xFFFFFFFF
        return ((t ^ (t >> 14)) & 0xFFFFFFFF) / 2**32

    return random


@pytest.mark.parametrize("recorded", RECORDED["games"], ids=lambda game: str(game["seed"]))
def test_the_recorded_games_are_replayed_step_for_step(recorded):
    size = (recorded["height"], recorded["width"], recorded["numFruits"], recorded["initLen"])
    game = Snake(*size, random=mulberry32(recorded["seed"]), faithful=True)
    assert [list(square) for square in game.body] == recorded["init"]["s"]
    assert [list(square) for square in game.fruits] == recorded["init"]["f"]
    assert game.direction == DIRECTIONS[recorded["init"]["dir"]]
    for action, reward, done, _, direction, head, length, fruits in recorded["steps"]:
        assert game.step(action) == (reward, bool(done))
        assert game.direction == DIRECTIONS[direction]
        if not done:
            assert list(game.body[0]) == head and len(game.body) == length
            assert [list(square) for square in game.fruits] == fruits


def test_there_are_enough_recorded_games():
    assert len(RECORDED["games"]) == 24
    assert sum(len(game["steps"]) for game in RECORDED["games"]) == 1884


def test_the_square_that_the_tail_leaves_is_deadly():
    rule = RECORDED["tailRule"]
    game = Snake()
    game.body = deque(map(tuple, rule["snake"]))
    game.direction = DIRECTIONS[rule["dir"]]
    before = list(game.body)
    assert rule["action"] == TURN_RIGHT
    assert game.step(rule["action"]) == (rule["reward"], rule["done"])
    assert list(game.body) == before


@pytest.mark.parametrize("faithful", [True, False])
def test_a_full_board(faithful):
    """The original goes on with a fruit that is nowhere; the default is that the game is won."""
    full = RECORDED["fullBoard"]
    game = Snake(2, 2, length=2, faithful=faithful)
    game.body, game.direction, game.fruits = deque([(1, 0), (0, 0), (0, 1)]), LEFT, [(1, 1)]
    game.direction = DOWN  # to the right of it lies the last free square
    reward, done = game.step(1)
    assert (reward, done) == (full["reward"], not faithful)
    board = encode(game, np.zeros((2, 2, 2), np.uint8))
    assert board.ravel().tolist() == full["tensor"]


def test_new_fruits_never_share_a_square_unless_faithful():
    for seed in range(200):
        game = Snake(3, 3, fruits=3, random=mulberry32(seed))
        for _ in range(20):
            if game.step(seed % 3)[1]:
                break
            assert len(set(game.fruits)) == len(game.fruits)
            assert not set(game.fruits) & set(game.body)


def test_boards_on_which_nothing_fits():
    with pytest.raises(ValueError, match="do not fit on 2 x 2"):
        Snake(2, 2, length=3)
