"""Which frames are taken off a traceback, and which must stay."""

from __future__ import annotations

import os

import pytest

import whygrad
from whygrad.running.tracebacks import peel, user_site

OURS = os.path.join(os.path.dirname(whygrad.__file__), "frameworks", "torch", "interceptor.py")
IMPORTS = os.path.join(os.path.dirname(whygrad.__file__), "frameworks", "imports.py")
OVERRIDES = "/lib/site-packages/torch/overrides.py"


def call_through(*frames):
    """Raise an exception through frames with these files and names, outermost first."""

    def innermost():
        raise ValueError("x")

    function = innermost
    for file, name in reversed(frames):
        scope = {"inner": function}
        exec(compile(f"def {name}(): inner()", file, "exec"), scope)
        function = scope[name]
    try:
        function()
    except ValueError as error:
        return error


def names(error):
    found, traceback = [], error.__traceback__
    while traceback:
        found.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    return found[1:-1]  # without this file's own


def peeled_names(*frames):
    return names(peel(call_through(*frames)))


def test_files_of_ours_and_the_trampoline_go():
    assert peeled_names(
        ("train.py", "f"), (OURS, "mode"), ("train.py", "__whygrad_call__"), ("b.py", "g")
    ) == [
        "f",
        "g",
    ]


def test_a_file_of_the_user_that_is_called_whygrad_stays():
    assert peeled_names(("/home/me/whygrad/train.py", "f")) == ["f"]


def test_the_first_call_of_a_torch_function_goes_with_the_hand_over():
    functional = ("/lib/torch/nn/functional.py", "relu")
    frames = [("train.py", "f"), functional, (OVERRIDES, "handle_torch_function"), (OURS, "mode"), functional]
    assert peeled_names(*frames) == ["f", "relu"]


def test_the_hand_over_to_somebody_elses_mode_stays():
    frames = [("train.py", "f"), (OVERRIDES, "handle_torch_function"), ("train.py", "__torch_function__")]
    assert peeled_names(*frames) == ["f", "handle_torch_function", "__torch_function__"]


def test_importlib_goes_only_around_our_import_hook():
    importlib = ("<frozen importlib._bootstrap>", "load")
    frames = [
        ("train.py", "f"),
        importlib,
        (IMPORTS, "exec_module"),
        importlib,
        ("torch.py", "g"),
        importlib,
    ]
    assert peeled_names(*frames) == ["f", "g", "load"]


def test_causes_contexts_and_groups():
    cause, context, member = (call_through((OURS, "mode"), ("a.py", "f")) for _ in range(3))
    error = ExceptionGroup("group", [member])
    error.__cause__, error.__context__ = cause, context
    cause.__context__ = error  # a circle
    peel(error)
    assert [names(e) for e in (cause, context, member)] == [["f"]] * 3


def test_nothing_to_take_off_leaves_the_very_same_traceback():
    error = call_through(("a.py", "f"))
    before = error.__traceback__
    assert peel(error).__traceback__ is before


def test_the_site_is_the_innermost_line_of_the_user():
    error = call_through(("train.py", "f"), (os.__file__, "library"))
    assert user_site(error).function == "innermost"  # this very file
    assert user_site(ValueError("never raised")) is None


@pytest.mark.parametrize("text", ["def f(:", "x = (\n"])
def test_the_site_of_a_syntax_error(text):
    with pytest.raises(SyntaxError) as caught:
        compile(text, "train.py", "exec")
    caught.value.__traceback__ = None
    assert user_site(caught.value).file == "train.py"


def without_lines(code):
    """As it is where an interrupt comes between two lines: the instruction belongs to none."""
    inner = tuple(without_lines(c) if hasattr(c, "co_code") else c for c in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=inner)


def test_a_frame_that_has_no_line_is_no_obstacle():
    scope = {"inner": lambda: call_through((OURS, "__torch_function__"), ("user.py", "last"))}
    exec(without_lines(compile("def odd(): raise inner()", "user.py", "exec")), scope)
    with pytest.raises(ValueError) as caught:
        scope["odd"]()
    peel(caught.value)
    linked, files = caught.value.__traceback__, []
    while linked:
        files.append(linked.tb_frame.f_code.co_filename)
        linked = linked.tb_next
    assert OURS not in files and "user.py" in files
    assert user_site(caught.value) is not None
