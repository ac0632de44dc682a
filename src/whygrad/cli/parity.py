"""``whygrad parity``: do two implementations of a network have the same gradients?"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.cli.saying import refuse, say
from whygrad.zoo.tfjs.converting import needs
from whygrad.zoo.tfjs.network import ModelError

_DESCRIPTION = """Compares B with A: loss, gradient of each variable, moving statistics, steps of the
optimizer, on the same batch with the same weights. A is a folder of vectors that TensorFlow.js made, or a
model or a script. B is keras or torch (the network as `whygrad convert` builds it), a .keras file, or your
own script.py:make_model. A script may also define loss(online, target, batch), load_weights(model, weights)
and make_optimizer(model). When they differ, the known mistakes are tried until one explains the difference.
Exit code: 0 equal, 1 different, 2 not comparable."""


def main(argv: Sequence[str]) -> int:
    """Compare them."""
    parser = argparse.ArgumentParser(prog="whygrad parity", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "a", metavar="A", help="vectors, a TensorFlow.js model, a .keras file or script.py:make_model"
    )
    parser.add_argument("b", metavar="B", help="keras, torch, a .keras file or script.py:make_model")
    parser.add_argument(
        "--tolerance", type=float, default=5e-5, help="relative, per variable (default: %(default)g)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result to FILE, too; - for stdout")
    options = parser.parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        with needs("all"):
            from whygrad.zoo.parity import checking, report

            result = checking.check(options.a, options.b, options.tolerance)
    except (ModelError, OSError) as error:
        return refuse(error)
    if options.json != "-":
        say(report.render(result), sys.stdout)
    if options.json:
        text = report.as_json(result)
        print(text) if options.json == "-" else Path(options.json).write_text(text + "\n", encoding="utf-8")
    return 0 if result.equal else 1
