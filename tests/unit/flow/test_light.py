"""Evidence by hand needs no framework; and this test can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
JUDGE = "import tests.unit.flow.build, whygrad.rules.judging, whygrad.diagnosis"


@pytest.mark.parametrize(("code", "light"), [(JUDGE, "True"), ("import numpy", "False")])
def test_judging_imports_no_framework(code, light):
    probe = f"{code}\nimport sys\nprint({{'torch', 'numpy', 'tensorflow', 'jax'}}.isdisjoint(sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == light, done.stderr
