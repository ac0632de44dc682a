"""Watching: the frames are the game, and each picture shows the frames."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path

import keras
import numpy as np
import pytest
from PIL import Image

from whygrad.cli.main import main
from whygrad.zoo.agents.snake_dqn import build_network
from whygrad.zoo.snake import gif, html, terminal
from whygrad.zoo.snake.frames import Frame, Game
from whygrad.zoo.snake.recording import Player
from whygrad.zoo.tfjs.network import ModelError

SMALL = Path(__file__).parents[1] / "data" / "small"
GAME = Game(
    3,
    4,
    (
        Frame(((1, 1), (1, 0)), ((1, 2),), 0, (1.5, -2.0, 0.0), 0),
        Frame(((1, 2), (1, 1), (1, 0)), ((0, 3),), 1, (0.1, 0.2, -3.0), 1),
        Frame(((1, 2), (1, 1), (1, 0)), ((0, 3),), 1),
    ),
    "died",
)


def test_a_network_of_tensorflow_js_plays():
    player = Player(SMALL / "online")
    games = list(player.games(3, seed=1))
    assert (player.height, player.width, len(games)) == (9, 9, 3)
    for game in games:
        for before, after in zip(game.frames[:-2], game.frames[1:-1], strict=True):
            assert before.action == int(np.argmax(before.values))
            moved = np.abs(np.subtract(before.body[0], after.body[0])).sum()
            assert moved == 1 and after.eaten - before.eaten == (after.body[0] in before.fruits)
        assert game.ending in ("died", "went in circles")
    assert list(player.games(3, seed=1)) == games


def test_the_terminal_shows_every_square():
    text = terminal.picture(GAME, GAME.frames[0], color=False)
    assert text.splitlines() == [
        "╭────────╮",
        "│        │  fruit 0, length 2",
        "│##@@()  │  ",
        "│        │  straight 1.5  left -2.0  right 0.0",
        "╰────────╯",
    ]
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.picture(GAME, GAME.frames[0], color=True))
    assert [len(line.split("│")[1]) for line in plain.splitlines()[1:4]] == [8, 8, 8]


def test_the_terminal_redraws_in_place_and_gives_the_cursor_back():
    stream, slept = io.StringIO(), []
    terminal.show(GAME, stream, fps=10, color=True, sleep=slept.append)
    assert slept == [0.1] * 3
    assert stream.getvalue().count("\x1b[5A") == 2
    assert stream.getvalue().startswith("\x1b[?25l") and stream.getvalue().endswith("\x1b[?25h")


def test_the_gif_has_every_frame():
    image = Image.open(io.BytesIO(gif.render(GAME, cell=10)))
    assert (image.size, image.n_frames, image.info["loop"]) == ((40, 30), 3, 0)
    for i, frame in enumerate(GAME.frames):
        image.seek(i)
        shown = image.convert("RGB")
        head, fruit = frame.body[0], frame.fruits[0]
        assert shown.getpixel((head[1] * 10 + 5, head[0] * 10 + 2)) == (0x69, 0xDB, 0x7C)
        assert shown.getpixel((fruit[1] * 10 + 5, fruit[0] * 10 + 5)) == (0xFF, 0x6B, 0x6B)


@pytest.mark.parametrize("seed", range(3))
def test_the_compression_is_what_others_read(seed):
    """Noise fills the table of codes again and again; runs make long codes."""
    dice = random.Random(seed)
    data = b"".join(
        bytes([dice.randrange(6)]) * (dice.choice([1, 1, 1, 300]) if seed else 1) for _ in range(20_000)
    )
    width = 100
    data = data[: len(data) // width * width]
    height = len(data) // width
    header = b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes([0xF2, 0, 0])
    palette = bytes(range(8)) * 3
    block = b"\x2c" + bytes(4) + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\x00\x03"
    image = Image.open(io.BytesIO(header + palette + block + gif._blocks(gif.lzw(data, 3)) + b"\x3b"))
    assert bytes(image.getdata()) == data


def test_the_page_holds_the_game_and_nothing_else():
    page = html.render(GAME, "Snake <3>")
    assert "Snake &lt;3&gt;" in page and "1 fruit in 2 moves, then died" in page
    data = json.loads(re.search(r"const game = (.*);", page).group(1))
    assert [frame["b"] for frame in data["frames"]] == [[list(s) for s in f.body] for f in GAME.frames]
    assert not re.search(r"https?://|src=|href=", page)


def test_the_command(tmp_path, capsys):
    model = build_network(5, 5, (4,), 8)
    model.save(tmp_path / "best.keras")
    assert main(["snake", "play", str(tmp_path), "--games", "2"]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(r"game 1: \d+ fruits? in \d+ moves, then .*\ngame 2: .*\n", out)
    files = [tmp_path / "g.gif", tmp_path / "g.html"]
    code = main(
        ["snake", "play", str(tmp_path / "best.keras"), "--gif", str(files[0]), "--html", str(files[1])]
    )
    assert code == 0 and "the best of 5 games" in capsys.readouterr().out
    assert Image.open(files[0]).size == (100, 100) and "<canvas" in files[1].read_text()


def test_networks_that_play_something_else(tmp_path, capsys):
    keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)]).save(tmp_path / "other.keras")
    for model, sentence in (("other.keras", "does not take a snake board"), ("no.keras", "there is no")):
        assert main(["snake", "play", str(tmp_path / model)]) == 2
        err = capsys.readouterr().err
        assert sentence in err and err.count("\n") == 1
    keras.Sequential([keras.Input((5, 5, 2)), keras.layers.Flatten(), keras.layers.Dense(4)]).save(
        tmp_path / "four.keras"
    )
    with pytest.raises(ModelError, match="does not give 3 action values"):
        Player(tmp_path / "four.keras")
