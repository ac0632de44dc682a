"""A program that runs with other text in its files: same names, same lines, nothing written."""

import subprocess
import sys
import textwrap

from whygrad.running import patched

SCRIPT = """
import inspect, os, helper
print(os.path.basename(helper.__file__), helper.value(), os.path.basename(__file__))
print(inspect.getsource(helper.value).strip().splitlines()[-1].strip())
print(sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))))
"""
RUN = """
import sys
from pathlib import Path
from whygrad.running import patched
from whygrad.running.program import Program
patched.install(Path(sys.argv[1]))
program = Program(sys.argv[2])
program.run(program.prepare())
"""


def test_modules_and_the_script_run_with_their_new_text(tmp_path):
    place = tmp_path / "work"
    place.mkdir()
    (place / "train.py").write_text(SCRIPT)
    (place / "helper.py").write_text("def value():\n    return 'old'\n")
    new = {
        str(place / "helper.py"): b"def value():\n    return 'new'\n",
        str(place / "train.py"): SCRIPT.encode() + b"print('and more')\n",
    }
    listing = patched.listed(new, tmp_path)
    command = [sys.executable, "-c", textwrap.dedent(RUN), str(listing), str(place / "train.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "helper.py new train.py",
        "return 'new'",
        "['helper.py', 'train.py']",
        "and more",
    ]
    assert (place / "helper.py").read_text() == "def value():\n    return 'old'\n"
