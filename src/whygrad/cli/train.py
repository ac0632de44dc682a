"""``whygrad train``: the reference agents, run through the same door as any script."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.cli import curve, run
from whygrad.doors import door
from whygrad.storage.directory import REPORT, RunDirectory
from whygrad.zoo import catalogue as shelf
from whygrad.zoo.catalogue import Agent, Break

_USAGE = """whygrad train
       whygrad train AGENT [options] [options of the agent ...]
       whygrad train AGENT --copy FILE"""

_EPILOG = """Every other option goes to the agent: whygrad train dqn --env CartPole-v1 --seed 1 --steps 50000
(whygrad train dqn --help shows them). Ways to break an agent: whygrad train dqn --break list"""


def main(argv: Sequence[str]) -> int:
    """List, copy or train."""
    parser = _parser()
    options, theirs = parser.parse_known_args(argv)
    if not options.agent:
        if theirs:
            parser.error(f"name the agent first: whygrad train AGENT {shlex.join(theirs)}")
        print(_listing())
        return 0
    try:
        agent = shelf.agent(options.agent)
        if options.help:
            parser.print_help()
            print()
            return run.main(["--quiet", str(agent.path), "--help"])
        if options.copy:
            return _copy(agent, Path(options.copy))
        if options.broken == "list":
            print(_breaks(agent))
            return 0
        return _train(agent, options, theirs)
    except shelf.NotThere as error:
        parser.exit(2, f"whygrad: {error}\n")
    except OSError as error:
        parser.exit(2, f"whygrad: {error.filename} cannot be written: {error.strerror}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="whygrad train",
        usage=_USAGE,
        description="Trains a reference agent and says what was found, as for any script.",
        epilog=_EPILOG,
        allow_abbrev=False,
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="its name; without one they are listed")
    parser.add_argument("-h", "--help", action="store_true", help="these options, and the agent's own")
    parser.add_argument("--copy", metavar="FILE", help="write the agent's file out, to start from")
    parser.add_argument(
        "--break",
        dest="broken",
        metavar="RULE",
        help="train its bugged twin, one line changed, and let it be found; list: which there are",
    )
    parser.add_argument("--watch", action="store_true", help="as whygrad run --watch")
    parser.add_argument("--every", metavar="N", help="as whygrad run --every")
    parser.add_argument("--out", metavar="DIR", help="the run directory (default: runs/<agent>-<time>/)")
    parser.add_argument("--json", metavar="FILE", help="write the report to FILE too; - prints it")
    parser.add_argument("--sarif", metavar="FILE", help="as whygrad run --sarif")
    parser.add_argument("--github", action="store_true", help="as whygrad run --github")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when there is an error to report")
    parser.add_argument("--quiet", action="store_true", help="print nothing of our own")
    return parser


def _listing() -> str:
    every = shelf.agents()
    width = max(map(len, every))
    rows = "\n".join(f"  {name:<{width}}  {agent.line}" for name, agent in every.items())
    return f"{rows}\n\nTrain one: whygrad train dqn --seed 1     its options: whygrad train dqn --help"


def _breaks(agent: Agent) -> str:
    rows = [f"  {rule:<22}  {broken.says}" for rule, broken in agent.breaks.items()]
    return "\n".join(rows) or f"there is no way to break {agent.name} yet"


def _copy(agent: Agent, to: Path) -> int:
    """Write the file out, but over nothing."""
    try:
        with to.open("x", encoding="utf-8") as file:
            file.write(agent.text)
    except FileExistsError:
        print(f"whygrad: {to} is already there, and is left as it is", file=sys.stderr)
        return 2
    print(f"{agent.name} is in {to}. Run it: whygrad run {to}")
    return 0


def _train(agent: Agent, options: argparse.Namespace, theirs: list[str]) -> int:
    """Hand over to ``whygrad run``; what is ours comes when everything else is over."""
    broken = agent.broken(options.broken) if options.broken else None
    folder = Path(options.out) if options.out else RunDirectory(agent.name, base=Path()).path()
    folder.mkdir(parents=True, exist_ok=True)
    script, changed = agent.path, 0
    if broken:
        text, changed = broken.apply(agent.text)
        script = folder / f"{agent.name}_{broken.rule.replace('-', '_')}.py"
        script.write_text(text, encoding="utf-8")
        theirs = [*_defaults(broken, theirs), *theirs]
    if agent.knows("--curve") and not _given("--curve", theirs):
        theirs = [*theirs, "--curve", str(folder / "curve.csv")]
    if not options.quiet:
        # Called after the report: it was registered before it.
        atexit.register(_afterwards, folder.resolve(), broken, changed)
    return run.main([*_passed_on(options, folder), str(script), *theirs])


def _defaults(broken: Break, theirs: Sequence[str]) -> list[str]:
    """The break's own short settings, as far as the user has none."""
    pairs = zip(broken.args[::2], broken.args[1::2], strict=True)
    return [word for option, value in pairs if not _given(option, theirs) for word in (option, value)]


def _given(option: str, words: Sequence[str]) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in words)


def _passed_on(options: argparse.Namespace, folder: Path) -> list[str]:
    words = ["--out", str(folder)]
    for option in ("--every", "--json", "--sarif"):
        value = getattr(options, option[2:])
        words += [option, value] if value else []
    return words + [f"--{flag}" for flag in ("watch", "strict", "quiet", "github") if getattr(options, flag)]


@door
def _afterwards(folder: Path, broken: Break | None, changed: int) -> None:
    """Python is about to exit, and the report is written."""
    with contextlib.suppress(Exception):
        _tell(folder, broken, changed)


def _tell(folder: Path, broken: Break | None, changed: int) -> None:
    """The learning curve, and for a bugged twin whether its bug was named."""
    table = folder / "curve.csv"
    if table.exists():
        print(f"whygrad: {curve.draw(table, folder / 'curve.png')}", file=sys.stderr)
    if broken:
        print(f"whygrad: {_verdict(folder / REPORT, broken, changed)}", file=sys.stderr)


def _verdict(report: Path, broken: Break, changed: int) -> str:
    said = f"line {changed} was broken: {broken.told}"
    try:
        rules = [finding["rule"] for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]]
    except (OSError, ValueError, KeyError):
        return f"{said}; there is no report to compare with"
    if broken.rule in rules:
        return f"{said}; it was found: {broken.rule}"
    return f"{said}; {broken.rule} was not found in this run" + (f", but {', '.join(rules)}" if rules else "")
