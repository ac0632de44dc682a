"""Importing whygrad imports no framework; and this test can fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = ("torch", "tensorflow", "jax", "numpy", "gymnasium")

LIGHT = [
    "import whygrad",
    "import whygrad.__main__; from whygrad.cli.verbs import VERBS; [__import__(f'whygrad.cli.{v}') for v in VERBS]",
    "import whygrad.running.session, whygrad.frameworks.registry, whygrad.diagnosis",
    "import whygrad.reporters.terminal, whygrad.reporters.json_report, whygrad.reporters.explain",
    "from whygrad.cli.main import main; main(['explain'])",
    "import whygrad.frameworks.torch.kinds, whygrad.frameworks.tensorflow.kinds",
    "import whygrad.cli.convert, whygrad.cli.parity, whygrad.cli.snake, whygrad.zoo.tfjs.manifest, whygrad.zoo.tfjs.topology",
    "import whygrad.zoo.snake.frames, whygrad.zoo.snake.gif, whygrad.zoo.snake.html, whygrad.zoo.snake.terminal",
]


def frameworks_imported_by(code: str) -> set[str]:
    """The frameworks that are there after this code ran in a fresh python."""
    probe = f"{code}\nimport sys\nprint('loaded:', *({FRAMEWORKS!r} & sys.modules.keys()))"
    probe = probe.replace(repr(FRAMEWORKS), repr(set(FRAMEWORKS)))
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("code", LIGHT)
def test_importing_whygrad_imports_no_framework(code):
    assert frameworks_imported_by(code) == set()


@pytest.mark.torch
def test_the_test_above_can_fail():
    assert "torch" in frameworks_imported_by("import whygrad.frameworks.torch.backend")
    assert frameworks_imported_by("import whygrad, numpy") == {"numpy"}


def test_importing_whygrad_is_quick_work():
    code = "import sys; before = set(sys.modules); import whygrad; print(*sys.modules.keys() - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.split() if name.startswith("whygrad")}
    assert ours == {"whygrad"}


def test_help_imports_no_verb():
    code = "import sys; from whygrad.cli.main import main\ntry: main(['-h'])\nexcept SystemExit: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name for name in done.stdout.splitlines()[-1].split() if name.startswith("whygrad")}
    assert ours == {"whygrad", "whygrad.cli", "whygrad.cli.main", "whygrad.cli.verbs"}


@pytest.mark.parametrize("command", ["--help", "explain", "runs"])
def test_only_evidence_needs_a_library(command, tmp_path):
    code = f"""
import sys
from whygrad.cli.main import main
try:
    main([{command!r}])
except SystemExit:
    pass
print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "msgspec" not in done.stdout.splitlines()[-1].split()


def test_public_names_that_do_not_exist():
    import whygrad

    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        _ = whygrad.nope
    assert set(dir(whygrad)) == set(whygrad.__all__)
