"""A program cannot tell whether python or whygrad runs it, and neither can whoever reads its output."""

from __future__ import annotations

import sys

import pytest


def test_what_a_script_sees_of_itself(same):
    done = same(
        """
        '''A docstring.'''
        from __future__ import annotations
        import sys
        print(__name__, __file__, __package__, __spec__, __doc__, __cached__)
        print(type(__loader__), __loader__.path, __loader__.name)
        print(sys.argv, sys.path, sys.orig_argv, sys.executable)
        print(sorted(globals()), sys.modules["__main__"].__dict__ is globals())
        print(__builtins__, __annotations__)
        """,
        "--lr", "1e-3", "--", "-m", "--quiet", "",
    )  # fmt: skip
    assert done.code == 0
    assert "__main__" in done.stdout


@pytest.mark.parametrize("path", ["./sub/train.py", "sub//train.py", "sub/../sub/train.py", "link.py"])
def test_paths_as_python_spells_them(lab, path):
    lab.write("import sys\nprint(__file__, sys.argv[0], sys.path[0])\n1 / 0\n", "sub/train.py")
    (lab.folder / "link.py").symlink_to("sub/train.py")
    assert lab.same(path).code == 1


def test_future_statements_of_ours_do_not_leak_into_the_script(same):
    assert same("def f(x: 1 + 1): ...\nprint(f.__annotations__)").stdout == "{'x': 2}\n"


def test_a_module_and_its_package(lab):
    lab.write("print('package', __name__)", "pkg/__init__.py")
    lab.write("VALUE = 3", "pkg/other.py")
    lab.write(
        """
        import sys
        from .other import VALUE
        print(VALUE, __name__, __package__, __file__, __spec__.name, __cached__, sys.argv, sys.path[0], sys.orig_argv)
        print(sorted(globals()))
        {}["missing"]
        """,
        "pkg/train.py",
    )
    assert lab.same("-m", "pkg.train", "--lr", "1").code == 1


def test_a_package_with_main(lab):
    lab.write("", "pkg/__init__.py")
    lab.write("import sys; print(__name__, __package__, __spec__.name, sys.argv)", "pkg/__main__.py")
    assert lab.same("-m", "pkg").code == 0


@pytest.mark.parametrize("module", ["nope", "pkg", "pkg.nope"])
def test_a_module_that_cannot_be_run(lab, module):
    lab.write("", "pkg/__init__.py")
    assert lab.same("-m", module).code == 1


def test_safe_path_is_respected(lab):
    lab.env["PYTHONSAFEPATH"] = "1"
    lab.write("import sys; print(sys.path)")
    lab.same("train.py")


@pytest.mark.parametrize(
    "ending",
    ["sys.exit()", "sys.exit(0)", "sys.exit(3)", "sys.exit(-1)", "sys.exit(300)", "sys.exit('no data')",
     "sys.exit(('a', 1))", "sys.exit(True)", "raise SystemExit", "exit(4)", "os._exit(5)", "os.abort()"],
)  # fmt: skip
def test_exit_codes(same, ending):
    same(f"import os, sys\nprint('out', flush=True)\n{ending}")


def test_pickling_of_classes_from_main(same):
    done = same(
        """
        import atexit, pickle
        class Thing:
            def __init__(self, x): self.x = x
        data = pickle.dumps(Thing(4))
        print(data, pickle.loads(data).x)
        atexit.register(lambda: print(pickle.loads(pickle.dumps(Thing(5))).x))
        """
    )
    assert done.code == 0


def test_exit_handlers_destructors_and_order(same):
    same(
        """
        import atexit, sys
        class Loud:
            def __del__(self): print("deleted")
        loud = Loud()
        atexit.register(print, "first registered")
        @atexit.register
        def fails(): 1 / 0
        atexit.register(print, "last registered")
        print("out"); print("err", file=sys.stderr)
        """
    )


def test_output_without_a_newline_and_a_closed_stdout(same):
    same("import sys\nsys.stdout.write('no newline'); sys.stderr.write('none here'); sys.stdout.close()")


def test_replaced_streams(same):
    same("import io, sys\nprint('a')\nsys.stdout = io.StringIO(); sys.stderr = io.StringIO()\nprint('b')")


def test_threads_are_waited_for(same):
    done = same(
        """
        import threading, time
        def work():
            time.sleep(0.3); print("worker done")
        threading.Thread(target=work).start()
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        print("main done", threading.active_count(), [t.name for t in threading.enumerate()])
        """
    )
    assert done.stdout.endswith("worker done\n")


def test_executor_that_is_never_shut_down(same):
    same(
        """
        from concurrent.futures import ThreadPoolExecutor
        import time
        ThreadPoolExecutor(2).submit(lambda: (time.sleep(0.2), print("from the pool")))
        print("main done")
        """
    )


def test_exceptions_in_threads(lab):
    lab.write(
        """
        import threading
        def work(): raise KeyError("in a thread")
        thread = threading.Thread(target=work, name="worker"); thread.start(); thread.join()
        threading.excepthook = lambda args: print("hook", args.exc_type, args.thread.name)
        thread = threading.Thread(target=work, name="second"); thread.start(); thread.join()
        """
    )
    assert lab.same("train.py").code == 0


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(same, method):
    done = same(
        f"""
        import multiprocessing, os, sys
        class Thing: value = 7
        def work(x): return x * Thing.value
        def fail(): raise ValueError("child")
        print("imported as", __name__, flush=True)
        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            with context.Pool(1) as pool:
                print(pool.map(work, range(3)))
            child = context.Process(target=sys.exit, args=(3,)); child.start(); child.join()
            print(child.exitcode)
        """
    )
    assert "[0, 7, 14]" in done.stdout


def test_multiprocessing_from_a_module(lab):
    lab.write("", "pkg/__init__.py")
    lab.write(
        """
        import multiprocessing
        from . import __name__ as package
        def work(x): return x + 1
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(package, pool.map(work, range(3)))
        """,
        "pkg/train.py",
    )
    assert "[1, 2, 3]" in lab.same("-m", "pkg.train").stdout


def test_a_forked_child_that_ends_on_its_own_does_not_report(lab):
    lab.write(
        """
        import os, sys
        pid = os.fork()
        if pid == 0:
            print("child")
            sys.exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        pid = os.fork()
        if pid == 0:
            raise ValueError("in the child")
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
        """
    )
    lab.same("train.py")
    done = lab.whygrad("run", "train.py")
    assert done.stderr.count("whygrad:") == 1
    assert done.stderr.count("ValueError: in the child") == 1


@pytest.mark.parametrize("where", ["while True: time.sleep(0.1)", "thread.join()", "time.sleep(60)"])
def test_ctrl_c(lab, where):
    lab.write(
        f"""
        import threading, time
        thread = threading.Thread(target=time.sleep, args=(60,), daemon=True); thread.start()
        try:
            print("ready", flush=True)
            {where}
        finally:
            print("finally")
        """
    )
    alone = lab.interrupted((sys.executable, "train.py"))
    assert lab.interrupted((sys.executable, "-m", "whygrad", "run", "--quiet", "train.py")) == alone
    assert alone.code == -2
    loud = lab.interrupted((sys.executable, "-m", "whygrad", "run", "train.py"))
    assert (loud.stdout, loud.code) == (alone.stdout, alone.code)
    assert loud.stderr.startswith(alone.stderr)
    assert "interrupted" in loud.stderr.removeprefix(alone.stderr)


def test_ctrl_c_that_the_script_handles_itself(lab):
    lab.write(
        """
        import signal, sys, time
        signal.signal(signal.SIGINT, lambda *_: sys.exit(9))
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    alone = lab.interrupted((sys.executable, "train.py"))
    assert lab.interrupted((sys.executable, "-m", "whygrad", "run", "--quiet", "train.py")) == alone
    assert alone.code == 9


def test_standard_input_belongs_to_the_script(lab):
    lab.write("print(input('? '))")
    outputs = [
        lab.do(*command, "train.py", stdin="42\n")
        for command in ((sys.executable,), (sys.executable, "-m", "whygrad", "run", "--quiet"))
    ]
    assert outputs[0] == outputs[1]


def test_a_module_of_the_user_with_the_name_of_one_of_ours(lab):
    lab.write("NAME = 'the user'", "model.py")
    lab.write("NAME = 'the user'", "rules.py")
    lab.write("import model, rules; print(model.NAME, rules.NAME, model.__file__)")
    lab.same("train.py")
