"""How long the report of a long run takes to make and to open, and how large it is.

    python benchmarks/report.py [--variables 200] [--updates 100000] [--rounds 5]

Every number of every update goes through the history that a run keeps, with one spike in it. Opening is from the
request to the moment when everything is drawn, in a fresh tab of headless Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from array import array
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from whygrad.cli.report import page as html_of
from whygrad.cli.run_directories import read
from whygrad.model import Run
from whygrad.reporters import json_report
from whygrad.summaries import history, kernel
from whygrad.summaries.kernel import FIGURES

FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"


def make(folder: Path, variables: int, updates: int) -> None:
    """A run directory with the history of a long run."""
    names = [
        ("opt", f"net.layers.{v}.weight", f"{group}/{figure}")
        for v in range(variables)
        for group in ("gradients", "variable")
        for figure in FIGURES
    ]
    names += [
        ("opt", f"net.layers.{v}.weight", more)
        for v in range(variables)
        for more in ("update/ratio", "gradients/absent")
    ]
    kept = history.History(names, kernel.load())
    generator = np.random.default_rng(0)
    sizes = generator.lognormal(-6, 3, len(names))
    for update in range(1, updates + 1):
        values = array("d", (sizes * generator.lognormal(0, 0.5, len(names))).tobytes())
        if update == updates // 3:
            values[names.index(("opt", "net.layers.7.weight", "gradients/norm"))] = 1e9
        kept.add(update, values)
    history.save(folder / "watch.history", tuple(kept.series()))
    (folder / "report.json").write_text(json_report.render(Run("train.py", frameworks=("torch",))))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--variables", type=int, default=200)
    parser.add_argument("--updates", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make(folder, options.variables, options.updates)
        began = time.perf_counter()
        text = html_of(read(name))
        making = time.perf_counter() - began
        (folder / "report.html").write_text(text)
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), args=FLAGS.split()
        )
        opening = []
        for _ in range(options.rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            began = time.perf_counter()
            page.goto((folder / "report.html").as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            opening.append(time.perf_counter() - began)
            spike = page.evaluate("Math.max(...page.time.values('net.layers.7.weight', 'gradients/norm', 1))")
            page.close()
        browser.close()
    print(
        f"{options.variables} variables, {options.updates:,} updates: {len(text.encode()) / 1e6:.2f} MB, made in {making:.1f} s"
    )
    print(
        f"opened in {statistics.median(opening):.2f} s ({min(opening):.2f} to {max(opening):.2f}); the spike of 1e9 is there: {spike:.3g}"
    )


if __name__ == "__main__":
    main()
