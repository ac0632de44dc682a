"""``whygrad snake play``: watch a trained snake in the terminal, or make a picture of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.cli.stream import color_for
from whygrad.cli.verbs import VERBS
from whygrad.zoo.tfjs.converting import needs
from whygrad.zoo.tfjs.network import ModelError

_DESCRIPTION = """Plays with a trained network: a .keras file, the folder that training saved into, or a
TensorFlow.js model. With --gif or --html the best of the games becomes a picture to share; otherwise the
games are shown in the terminal. There is no exploration: the same seed gives the same games."""


def main(argv: Sequence[str]) -> int:
    """Play."""
    options = _parser().parse_args(argv)
    try:
        with needs("tensorflow"):
            from whygrad.zoo.snake.recording import Player

            games = Player(options.model).games(options.games, options.seed, options.fruits, options.length)
            return (
                _picture(options, list(games)) if options.gif or options.html else _terminal(options, games)
            )
    except (ModelError, OSError) as error:
        print(f"whygrad: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="whygrad snake", description=VERBS["snake"], allow_abbrev=False)
    verbs = parser.add_subparsers(required=True, metavar="play")
    play = verbs.add_parser(
        "play", help="watch a trained network play", description=_DESCRIPTION, allow_abbrev=False
    )
    play.add_argument(
        "model", type=Path, metavar="MODEL", help="a .keras file, a model.json, or a folder of either"
    )
    play.add_argument("--gif", type=Path, metavar="FILE", help="write the best game as an animated GIF")
    play.add_argument("--html", type=Path, metavar="FILE", help="write the best game as an HTML page")
    play.add_argument(
        "--games", type=_count, default=5, metavar="N", help="how many games (default: %(default)s)"
    )
    play.add_argument("--seed", type=int, default=0, help="where snake and fruit lie (default: %(default)s)")
    play.add_argument("--fps", type=float, default=12, help="moves per second (default: %(default)s)")
    play.add_argument("--fruits", type=_count, default=1, help="fruits at a time (default: %(default)s)")
    play.add_argument(
        "--length", type=_count, default=2, help="of the snake at the start (default: %(default)s)"
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _terminal(options: argparse.Namespace, games: object) -> int:
    from whygrad.zoo.snake import terminal

    live = sys.stdout.isatty()
    for i, game in enumerate(games, 1):  # type: ignore[arg-type, var-annotated]
        if live:
            terminal.show(game, sys.stdout, max(options.fps, 0.1), color_for(sys.stdout))
        print(f"game {i}: {game.summary}")
    return 0


def _picture(options: argparse.Namespace, games: list) -> int:
    from whygrad.zoo.snake import gif, html

    best = max(games, key=lambda game: (game.eaten, -len(game.frames)))
    if options.gif:
        options.gif.write_bytes(gif.render(best, fps=max(options.fps, 0.1)))
    if options.html:
        title = f"Snake, {best.height} x {best.width}"
        options.html.write_text(html.render(best, title, max(options.fps, 0.1)), encoding="utf-8")
    files = " and ".join(str(file) for file in (options.gif, options.html) if file)
    print(f"wrote {files}: the best of {len(games)} games, {best.summary}")
    return 0
