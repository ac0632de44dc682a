"""A backend is attached when its framework has been imported, and never gets in the way."""

from __future__ import annotations

import json
import sys
import types

import pytest

from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.registry import Registry
from whygrad.model.frameworks import Framework


@pytest.fixture
def watched(lab):
    """Run a script with the fake framework; gives the process and the texts of the notes."""

    def run(source, **settings):
        lab.write(source)
        done = lab.fake("run", "--out", "out", "train.py", **settings)
        return done, json.loads((lab.folder / "out" / "report.json").read_text())

    return run


def texts(report, kind="observation"):
    return [note["text"] for note in report["notes"] if note["kind"] == kind]


def test_attached_after_the_framework_is_complete(watched):
    done, report = watched("import fakeframe\nmy_net = 1\nfakeframe.step(); fakeframe.step()")
    assert done.code == 0
    assert texts(report) == ["complete: True", "names: ['my_net']"]
    assert report["frameworks"] == ["fakeframe"]
    assert report["versions"]["fakeframe"] == "9.9"
    assert report["updates"][0]["count"] == 2


@pytest.mark.parametrize("how", ["from fakeframe import step", "__import__('fakeframe')", "import helper"])
def test_however_it_is_imported(lab, watched, how):
    lab.write("import fakeframe", "helper.py")
    _, report = watched(f"{how}\nimport fakeframe\nfakeframe.step()")
    assert report["updates"][0]["count"] == 1


def test_the_script_sees_the_real_loader(watched):
    done, _ = watched(
        """
        import importlib.util, sys
        spec = importlib.util.find_spec("fakeframe")
        print(spec.name, spec.loader.get_filename().endswith("fakeframe.py"))
        import fakeframe
        print(type(fakeframe.__loader__).__name__, type(fakeframe.__spec__.loader).__name__)
        importlib.reload(fakeframe)
        """
    )
    assert done.stdout == "fakeframe True\nSourceFileLoader SourceFileLoader\n"
    assert done.code == 0


def test_an_import_in_a_thread(watched):
    _, report = watched(
        """
        import threading
        def work():
            import fakeframe
            fakeframe.step()
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]; [t.join() for t in threads]
        """
    )
    assert report["updates"][0]["count"] == 4


def test_an_import_that_fails_is_the_scripts_own_affair(watched):
    done, report = watched(
        """
        import os
        try: import fakeframe
        except RuntimeError as error: print(error)
        os.environ["FAKE_IMPORT"] = ""
        import fakeframe
        fakeframe.step()
        """,
        **{"import": "fails"},
    )
    assert done.stdout == "the framework is broken\n"
    assert report["updates"][0]["count"] == 1


@pytest.mark.parametrize("method", ["attach", "detach", "observe", "failed", "judged", "diagnose"])
def test_a_bug_of_ours_never_stops_the_script(watched, method):
    done, report = watched(
        "import fakeframe\nfakeframe.step()\nprint('done')\nraise SystemExit(4)", fail=method
    )
    assert (done.stdout, done.code) == ("done\n", 4)
    if method not in ("failed", "judged"):
        (text,) = texts(report, "internal")
        assert "whygrad could not" in text and f"our own bug in {method}" in text


def test_a_bug_of_ours_in_check_is_not_health(lab):
    lab.write("import fakeframe\nfor _ in range(10): fakeframe.step()")
    assert lab.fake("check", "train.py", fail="diagnose").code == 2


def test_a_backend_hears_of_the_exception_without_frames_of_ours(watched):
    done, report = watched("import fakeframe\ndef f(): 1 / 0\nf()")
    assert "failed: ZeroDivisionError in ['<module>', 'f']" in texts(report)
    assert report["exception"]["function"] == "f"
    assert done.code == 1


def test_a_backend_hears_of_an_exception_in_a_thread(watched):
    _, report = watched("import fakeframe, threading\ndef f(): 1 / 0\nthreading.Thread(target=f).start()")
    assert any(text.startswith("failed: ZeroDivisionError") for text in texts(report))
    assert report["exception"]["line"] == 2


def test_a_framework_that_cannot_be_attached_to_is_said(lab):
    lab.write("", "jax/__init__.py")
    lab.write("import jax")
    done = lab.whygrad("run", "train.py")
    assert "whygrad could not attach to jax" in done.stderr
    assert done.code == 0


def test_a_forked_child_is_not_watched(watched):
    done, report = watched(
        """
        import fakeframe, os
        fakeframe.step()
        if os.fork() == 0:
            print(len(fakeframe.hooks), flush=True)
            os._exit(0)
        os.wait()
        fakeframe.step()
        """
    )
    assert done.stdout == "0\n"
    assert report["updates"][0]["count"] == 2


class Recorder:
    """A backend that counts."""

    def __init__(self):
        log.append("made")

    def attach(self, setup):
        log.append("attach")

    def detach(self):
        log.append("detach")


log: list[str] = []


def test_in_a_notebook_the_framework_is_already_there(monkeypatch):
    log.clear()
    monkeypatch.setitem(sys.modules, "already", types.ModuleType("already"))
    monkeypatch.setitem(sys.modules, "recorder", sys.modules[__name__])
    before = list(sys.meta_path)
    registry = Registry(
        Setup(), {name: Framework(name, backend="recorder:Recorder") for name in ("already", "absent")}
    )
    registry.start()
    assert registry.seen == ["already"]
    registry.stop()
    registry.stop()
    assert log == ["made", "attach", "detach", "detach"]
    assert sys.meta_path == before
