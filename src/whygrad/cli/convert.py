"""``whygrad convert``: a TensorFlow.js model in Keras or torch, or a Keras model in TensorFlow.js."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad import strangers
from whygrad.cli.saying import refuse, say
from whygrad.zoo.tfjs import converting
from whygrad.zoo.tfjs.network import Model, ModelError

_DESCRIPTION = """Reads a TensorFlow.js layers-model (model.json, or the folder that has one) or a Keras file,
and writes it for Keras (a .keras file), torch (a .py file that needs nothing but torch, and its weights as
.pt) or TensorFlow.js (a folder). Nothing outside the model's folder is read and nothing in it is executed.
Exit code: 0, or 2 and one sentence when the model cannot be converted."""


def main(argv: Sequence[str]) -> int:
    """Convert it."""
    parser = argparse.ArgumentParser(prog="whygrad convert", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "source", type=Path, metavar="MODEL", help="model.json, a folder that has one, or a .keras file"
    )
    parser.add_argument("--to", required=True, choices=list(converting.TARGETS), help="what to write")
    parser.add_argument(
        "out", type=Path, metavar="OUT", help="a folder, or a file such as model.keras or model.py"
    )
    parser.add_argument(
        "--quantize", choices=["uint8", "uint16", "float16"], help="smaller weights; with --to tfjs"
    )
    parser.add_argument(
        "--keep-non-finite", action="store_true", help="take weights that are NaN or infinite, too"
    )
    options = parser.parse_args(argv)
    if options.quantize and options.to != "tfjs":
        parser.error("--quantize goes with --to tfjs")
    try:
        model = converting.read(options.source, options.keep_non_finite)
        files = converting.TARGETS[options.to](model, options.out, options.quantize)
    except (ModelError, OSError) as error:
        return refuse(error)
    for note in converting.notes(model, options.to):
        say(f"whygrad: {strangers.line(note)}", sys.stderr)
    say(_summary(model, files), sys.stdout)
    return 0


def _summary(model: Model, files: list[Path]) -> str:
    names = " and ".join(
        map(str, files if len(files) < 4 else [files[0], f"{len(files) - 1} files beside it"])
    )
    numbers = sum(array.size for array in model.weights.values())
    layers = sum(layer.kind != "InputLayer" for layer in model.network.layers.values())
    return f"wrote {names}: {layers} layers, {numbers:,} weights"
