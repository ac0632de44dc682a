"""``whygrad probe``: an agent in five tiny environments, each of which fails for one reason."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from whygrad.zoo import catalogue as shelf

_EPILOG = """WHAT is the name of a reference agent, or script.py:make_agent. make_agent(env, seed) is given
the name of a gymnasium environment and returns an object with learn(steps), act(observation) and,
if it has one, value(observation); `gamma` is its discount (0.99 if it does not say). With
`make_agent.continuous = True` the actions are continuous.
Exit code: 0 all solved, 1 not all, 2 wrong use."""


class _Cannot(Exception):
    """The agent cannot be asked; the message is one sentence for the user."""


def main(argv: Sequence[str]) -> int:
    """Ask it, and say what is broken."""
    parser = argparse.ArgumentParser(
        prog="whygrad probe",
        description="Trains an agent in five tiny environments and says which part of it is broken.",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="WHAT", help="dqn, ppo, ... or script.py:make_agent")
    parser.add_argument("--seed", type=int, default=1, help="of every training (default: %(default)s)")
    options = parser.parse_args(argv)
    try:
        return _ask(options.what, options.seed)
    except (_Cannot, shelf.NotThere) as error:
        print(f"whygrad: {error}", file=sys.stderr)
        return 2


def _ask(what: str, seed: int) -> int:
    make_agent = _maker(what)
    examine = _load(str(shelf.HERE / "envs" / "probes.py"))["examine"]
    failed = []
    answers, started = examine(make_agent, seed), time.perf_counter()
    while True:
        try:
            answer = next(answers, None)
        except Exception as error:
            raise _Cannot(f"{what} failed while it was asked: {type(error).__name__}: {error}") from error
        if answer is None:
            break
        seconds, started = time.perf_counter() - started, time.perf_counter()
        print(f"{'solved' if answer.passed else 'FAILED'}  {answer.asked}; {answer.found} ({seconds:.1f} s)")
        sys.stdout.flush()
        failed += [] if answer.passed else [answer]
    print(_conclusion(failed))
    return 1 if failed else 0


def _conclusion(failed: list[Any]) -> str:
    if not failed:
        return "nothing is broken: value, bootstrapping, policy and exploration do what they should"
    text = f"broken: {failed[0].part}"
    return text + ("; mend this first, the later ones build on it" if len(failed) > 1 else "")


def _maker(what: str) -> Callable[..., Any]:
    """The function that makes the agent."""
    path, colon, name = what.rpartition(":")
    if not colon:
        path, name = what, "make_agent"
    if path.endswith(".py"):
        if not os.path.isfile(path):
            raise _Cannot(f"there is no file {path!r}")
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    else:
        path = str(shelf.agent(path).path)
    maker = _load(path).get(name)
    if not callable(maker):
        raise _Cannot(f"{what} has no function {name}(env, seed) that makes an agent")
    return maker


def _load(path: str) -> dict[str, Any]:
    try:
        return runpy.run_path(path, run_name="probed")
    except Exception as error:
        raise _Cannot(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
