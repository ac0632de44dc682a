"""What a program printed, without what no two runs have in common.

Every line stays: only times, process and thread numbers, addresses and made-up names are put into a common form, so
that a line that is there in one of two runs only is still a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal

#: What the logs of the frameworks begin their lines with, and what is put there; each as it is printed.
_LOGS = (
    # absl, glog and torch, from C++ and from Python: ``I0000 00:00:1794938035.350165    5693 port.cc:153]``,
    # ``[W1117 17:53:36.123456789 Module.cpp:12]``; the number of the process is not always there
    (re.compile(r"^(.*?\[?)([IWEF])\d{4} \d\d:\d\d:\d+\.\d+ +(?:\d+ +)?(?=\S+:\d+\])", re.M), r"\1\2 "),
    # TensorFlow: ``2026-11-17 17:53:36.123456: I tensorflow/core/util/port.cc:153]``
    (re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: (?=[IWEF] )", re.M), ""),
)
_NAMES = (
    (re.compile(r"__autograph_generated_file\w+"), "__autograph_generated_file"),  # a new name each time
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x0"),
)


def settled(text: str) -> str:
    """The text in the form that two runs of one program have in common."""
    for pattern, common in (*_LOGS, *_NAMES):
        text = pattern.sub(common, text)
    return text


@contextmanager
def as_at_a_terminal() -> Iterator[None]:
    """Let what is started here be ended with Ctrl-C, also where the tests themselves cannot.

    A shell starts what is to run in the background with the signal ignored, and every child inherits that.
    """
    before = getsignal(SIGINT)
    if before is SIG_IGN:
        signal(SIGINT, default_int_handler)  # a handler does not outlive exec: the child has the default
    try:
        yield
    finally:
        signal(SIGINT, before)
