"""The progress line, on a real (pseudo) terminal: seen, and never mixed with what the script writes."""

import os
import re
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")

SCRIPT = """
import sys, time, torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for update in range(60):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    time.sleep(0.02)
    if update % 20 == 19:
        print("update", update, "of the script")
    if update == 50:
        print("unfinished", end="", flush=True)
    if update == 55:
        print(" and finished")
"""


def on_a_terminal(folder, *options):
    (folder / "train.py").write_text(SCRIPT)
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "whygrad", "run", "--every", "1", *options, "train.py"]
    child = subprocess.Popen(command, cwd=folder, env=env, stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    read = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        read += part
    assert child.wait() == 0
    os.close(ours)
    return read.decode()


def screen(text):
    """What a person sees in the end: carriage returns and erased lines are carried out."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for piece in re.split(r"(\r|\x1b\[K)", re.sub(r"\x1b\[[0-9;]*m", "", line)):
            if piece == "\r":
                at = 0
            elif piece == "\x1b[K":
                shown = shown[:at]
            else:
                at = locals().get("at", 0)
                shown = shown[:at] + piece + shown[at + len(piece) :]
                at += len(piece)
        lines.append(shown)
        at = 0
    return lines


def test_it_is_drawn_and_never_mixed(tmp_path):
    text = on_a_terminal(tmp_path, "--out", "out")
    drawn = re.findall(r"whygrad: [\d,]+ updates · [\d,]+/s · net\.\w+: moves by \S+ of its size", text)
    assert len(drawn) >= 3
    lines = screen(text)
    assert lines[0] == "whygrad: watching train.py"
    for number in (19, 39, 59):
        assert f"update {number} of the script" in lines
    assert "unfinished and finished" in lines
    assert not any("updates ·" in line for line in lines)


def test_quiet_draws_nothing(tmp_path):
    text = on_a_terminal(tmp_path, "--quiet", "--out", "out")
    assert "whygrad" not in text
    assert "\x1b" not in text
