"""``whygrad run``: the program to its end, as python would, and then what was found."""

from __future__ import annotations

from collections.abc import Sequence

from whygrad.cli import bare, choosing, launching, live, target, telling, watch
from whygrad.cli.output import Output
from whygrad.cli.supervise import supervise
from whygrad.cli.telling import Telling
from whygrad.model import Run, Severity
from whygrad.processes.launcher import Launcher
from whygrad.running.bare import begun


def main(argv: Sequence[str]) -> int:
    """Run it. The exit code is the script's own, but for ``--strict``."""
    begun.clear()
    try:
        return _watched(argv)
    except Exception as error:
        if begun:
            raise  # the script's own
        failure = error
    return bare.run(
        argv, failure
    )  # not in the handler: no exception of the script's has anything to do with it


def _watched(argv: Sequence[str]) -> int:
    parser = target.parser("run", "Runs a script as python would, and then says what was found.")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when there is an error to report")
    watch.add_options(parser)
    telling.add_options(parser)
    live.add_option(parser)
    options, program = target.parse_any(parser, argv)
    output = Output.of(options, program)
    summaries = watch.summaries(parser, options, output)
    choice = choosing.choice(parser, options, program.folder)
    code = strict_code if options.strict else own_code
    if options.live:
        live.begin(output)
    if isinstance(program, Launcher):
        return launching.supervise(program, output, code, choice=choice)
    told = Telling.of(options, output)
    told.begin(program.label)
    return supervise(program, output, code, summaries=summaries, choice=choice, told=told, live=options.live)


def own_code(run: Run) -> int:
    """The script's own exit code."""
    return run.exit_code


def strict_code(run: Run) -> int:
    """1 when something is wrong with the gradients, else the script's own."""
    return run.exit_code or int(bool(run.at(Severity.ERROR)))
