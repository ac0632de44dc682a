"""The command line: options, sentences, files, colour."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from whygrad import __version__
from whygrad.cli.target import split
from whygrad.running.program import Program

HEALTHY = "import fakeframe\nfakeframe.step()\nprint('done')\n"


@pytest.mark.parametrize(
    ("argv", "ours", "target"),
    [
        (["a.py", "--json", "x"], [], ["a.py", "--json", "x"]),
        (["--quiet", "a.py", "--quiet"], ["--quiet"], ["a.py", "--quiet"]),
        (["--json", "-", "a.py"], ["--json", "-"], ["a.py"]),
        (["--json=-", "a.py", "-"], ["--json=-"], ["a.py", "-"]),
        (["--out", "d", "-m", "pkg.x", "-m"], ["--out", "d"], ["-m", "pkg.x", "-m"]),
        (["--strict", "--", "-odd.py", "--"], ["--strict"], ["-odd.py", "--"]),
        ([], [], []),
    ],
)
def test_where_the_script_begins(argv, ours, target):
    assert split(argv) == (ours, target)


def test_version_and_help(lab):
    assert lab.whygrad("--version").stdout == f"whygrad {__version__}\n"
    for args in ([], ["-h"], ["run", "-h"], ["check", "--help"], ["explain", "-h"]):
        done = lab.whygrad(*args)
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: whygrad")


@pytest.mark.parametrize(
    ("target", "args", "is_module", "stem"),
    [
        ("some/train.py", ("other.py",), False, "train"),
        ("pkg.train", ("--lr", "1"), True, "train"),
        ("torch.distributed.run", ("--nproc_per_node=2", "some/train.py"), True, "train"),
    ],
)
def test_what_a_run_is_called(target, args, is_module, stem):
    assert Program(target, args, is_module).stem == stem


WRONG = [
    (("run",), "name the script to run"),
    (("run", "-m"), "-m needs the name of a module"),
    (("run", "nope.py"), "whygrad: there is no file 'nope.py'"),
    (("run", "train.sh"), "'train.sh' is a shell script: `whygrad run -- sh train.sh` watches the python"),
    (("check", "a.ipynb"), "'a.ipynb' is a notebook: write `with whygrad.watching():` in the cell"),
    (("run", "folder"), "whygrad: 'folder' is a directory: name the script in it that trains"),
    (("run", "--jsn", "x"), "unrecognized arguments: --jsn"),
    (("check", "nope.py"), "whygrad: there is no file 'nope.py'"),
    (("train.py", "--lr", "1"), "whygrad run train.py --lr 1"),
    (("explode",), "there is no command 'explode'; `whygrad --help` lists them"),
    (("rnu", "train.py"), "there is no command 'rnu'; did you mean `run`?"),
    (("explain", "detach"), "did you mean 'detached'?"),
    (("explain", "qqqq"), "there is no rule 'qqqq'; `whygrad explain` lists them all"),
    (("explain", "foo"), "there is no rule 'foo'; `whygrad explain` lists them all"),
]


@pytest.mark.parametrize(("args", "sentence"), WRONG)
def test_wrong_use_gets_one_sentence_and_exit_code_2(lab, args, sentence):
    (lab.folder / "folder").mkdir()
    for name in ("train.sh", "a.ipynb"):
        (lab.folder / name).touch()
    done = lab.whygrad(*args)
    assert (done.code, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_who_reads_only_the_beginning_gets_no_traceback(lab):
    words = [sys.executable, "-m", "whygrad", "explain", "detached"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(words, cwd=lab.folder, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_explain(lab):
    assert "detached" in lab.whygrad("explain").stdout
    page = lab.whygrad("explain", "detached")
    assert page.code == 0
    assert ".detach()" in page.stdout


def test_our_words_come_after_the_scripts_on_stderr(lab):
    lab.write("import atexit, sys, fakeframe\natexit.register(print, 'last', file=sys.stderr)\n" + HEALTHY)
    done = lab.fake("run", "train.py", findings="error")
    assert done.stdout == "done\n"
    assert done.stderr.startswith("last\n")
    assert "it is cut" in done.stderr


def test_quiet_says_nothing_and_still_writes_the_report(lab):
    lab.write(HEALTHY)
    done = lab.fake("run", "--quiet", "train.py", findings="error")
    assert (done.stdout, done.stderr, done.code) == ("done\n", "", 0)
    assert len(list(lab.folder.glob("runs/train-*/report.json"))) == 1


def test_every_run_gets_its_own_directory(lab):
    lab.write(HEALTHY)
    for _ in range(3):
        lab.fake("run", "train.py")
    assert len(list(lab.folder.glob("runs/train-*/report.json"))) == 3
    assert not list(lab.folder.glob("runs/train-*/.*"))


@pytest.mark.parametrize(
    ("findings", "own", "code"), [("error", 0, 1), ("warning", 0, 0), ("", 0, 0), ("error", 3, 3), ("", 3, 3)]
)
def test_strict_turns_errors_into_exit_code_1(lab, findings, own, code):
    lab.write(f"import sys, atexit\natexit.register(print, 'bye')\n{HEALTHY}sys.exit({own})")
    assert lab.fake("run", "train.py", findings=findings).code == own
    done = lab.fake("run", "--strict", "train.py", findings=findings)
    assert (done.code, done.stdout) == (code, "done\nbye\n")


def test_json_on_stdout_comes_after_the_scripts_own(lab):
    lab.write(HEALTHY)
    done = lab.fake("run", "--quiet", "--json", "-", "train.py", findings="error")
    own, _, rest = done.stdout.partition("\n")
    report = json.loads(rest)
    assert (own, done.stderr) == ("done", "")
    assert (report["format"], report["script"], report["findings"][0]["rule"]) == (1, "train.py", "detached")


def test_json_in_a_file_even_when_the_script_changes_directory(lab):
    (lab.folder / "sub").mkdir()
    lab.write("import os; os.chdir('sub')\n" + HEALTHY)
    lab.fake("run", "--json", "report.json", "--out", "out", "train.py")
    assert json.loads((lab.folder / "report.json").read_text()) == json.loads(
        (lab.folder / "out" / "report.json").read_text()
    )


def test_devices_are_written_to_and_not_replaced(lab):
    lab.write(HEALTHY)
    os.mkfifo(lab.folder / "pipe")
    lab.do(
        "sh", "-c", 'cat pipe > copy & "$0" "$1" run --json pipe train.py; wait', sys.executable,
        str(lab.fake("explain") and (lab.env["PYTHONPATH"].split(os.pathsep)[0] + "/drive.py")),
    )  # fmt: skip
    assert json.loads((lab.folder / "copy").read_text())["format"] == 1
    assert (lab.folder / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--out", "train.py/x"), "the run directory could not be written"),
        (("--json", "no/such/folder/x.json"), "no/such/folder/x.json could not be written"),
    ],
)
def test_what_cannot_be_written_is_said_and_nothing_else_is_lost(lab, options, sentence):
    lab.write(HEALTHY)
    done = lab.fake("run", *options, "train.py", findings="error")
    assert (done.code, done.stdout) == (0, "done\n")
    assert sentence in done.stderr
    assert "it is cut" in done.stderr


def test_a_script_without_a_framework(lab):
    lab.write("print('hello')")
    done = lab.whygrad("run", "train.py")
    assert (done.code, done.stdout) == (0, "hello\n")
    assert len(done.stderr.splitlines()) <= 2
    assert "no framework that whygrad watches" in " ".join(done.stderr.split())
    assert not (lab.folder / "runs").exists()


def test_a_framework_that_is_not_installed(lab):
    missing = "No module named 'jax'"  # as where it is not there: on this machine it may be
    lab.write(f"raise ModuleNotFoundError({missing!r}, name='jax')", "jax/__init__.py")
    lab.write("import jax")
    done = lab.whygrad("run", "train.py")
    assert done.code == 1
    assert "ModuleNotFoundError: No module named 'jax'\n" in done.stderr
    assert "needs jax, which is not installed" in " ".join(done.stderr.split())


def test_a_script_that_never_updates(lab):
    lab.write("import fakeframe")
    done = lab.fake("run", "train.py")
    assert done.code == 0
    assert "no optimizer step" in " ".join(done.stderr.split())


def test_a_syntax_error_is_shown_as_python_shows_it(lab):
    lab.write("def f(:\n")
    alone, ours = lab.python("train.py"), lab.whygrad("run", "train.py")
    assert ours.code == alone.code == 1
    assert ours.stderr.startswith(alone.stderr)
    assert "SyntaxError" in ours.stderr.removeprefix(alone.stderr)


@pytest.mark.parametrize(
    ("env", "colour"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_only_where_it_is_wanted(lab, env, colour):
    lab.env |= env
    lab.write(HEALTHY)
    assert ("\x1b[" in lab.fake("run", "train.py", findings="error").stderr) is colour
    assert ("\x1b[" in lab.whygrad("explain", "detached").stdout) is colour


def test_streams_that_the_script_has_closed(lab):
    lab.write(HEALTHY + "import sys; sys.stderr.close(); sys.stdout.close()")
    done = lab.fake("run", "--json", "-", "train.py")
    assert (done.code, done.stdout[:5]) == (0, "done\n")
    assert json.loads(done.stdout[5:])["exit_code"] == 0
    assert "1 update" in done.stderr


def test_a_stderr_that_cannot_show_our_letters(lab):
    lab.env["PYTHONIOENCODING"] = "ascii:strict"
    lab.write(HEALTHY)
    done = lab.fake("run", "train.py", findings="error")
    assert "it is cut" in done.stderr
    assert done.code == 0


def test_the_installed_command(lab):
    command = os.path.join(os.path.dirname(sys.executable), "whygrad")
    lab.write("import sys; print(sys.path[0], sys.argv)\n1 / 0")
    assert lab.do(command, "run", "--quiet", "train.py", "a") == lab.python("train.py", "a")
