"""For all tests: what is in a folder of ``LIGHT`` needs no framework. ``make quick`` runs those folders.

A test there that needs one after all is marked ``torch``, ``tensorflow`` or ``jax``, or belongs into another folder.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.labelled import Forks

HERE = Path(__file__).parent
LIGHT = (HERE / "unit", HERE / "architecture")
FRAMEWORKS = {"torch", "tensorflow", "keras", "jax", "optax", "flax", "gymnasium", "stable_baselines3"}
MARKS = ("torch", "tensorflow", "jax")
HEAVY = "{} imports {}: mark it so, or put it into a folder beside {}, so that `make quick` stays quick"


def pytest_addoption(parser: pytest.Parser) -> None:
    """What draws the sample of mutants."""
    parser.addoption("--mutants-seed", type=int, default=0, help="draws the sample of mutants (long tests)")
    parser.addoption("--mutants-sample", type=int, default=24, help="how many mutants of each framework")


@contextmanager
def _without_frameworks(node: pytest.Item | pytest.Collector) -> Iterator[None]:
    """Fail if a framework is imported here for the first time, and shall not be."""
    before = FRAMEWORKS & sys.modules.keys()
    yield
    new = (FRAMEWORKS & sys.modules.keys()) - before
    light = [folder for folder in LIGHT if node.path.is_relative_to(folder)]
    if new and light and not any(any(node.iter_markers(mark)) for mark in MARKS):
        pytest.fail(HEAVY.format(node.nodeid, ", ".join(sorted(new)), light[0].name), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fixtures."""
    with _without_frameworks(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Tests."""
    with _without_frameworks(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, pytest.CollectReport]:
    """What a module imports, and the conftest.py of its folder."""
    try:
        with _without_frameworks(collector):
            return (yield)
    except pytest.fail.Exception as heavy:
        return pytest.CollectReport(collector.nodeid, "failed", str(heavy), [])


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Runs labelled scripts; a framework is imported once for all of them."""
    from tests.labelled import Forks

    forks = Forks(tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()


@pytest.fixture(params=["native", "numpy"])
def functions(request, monkeypatch):
    """The kernel of summaries: the native one, and the one in numpy that stands in for it."""
    from whygrad.summaries import kernel

    monkeypatch.setenv("WHYGRAD_KERNEL", request.param)
    try:
        return kernel.load()
    except kernel.NoKernel:
        pytest.skip("no native kernel here")
