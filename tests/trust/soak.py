"""Long trainings in fast motion: does memory stay flat, and does an update cost at the end what it cost first?

    python tests/trust/soak.py updates 1000000     one network, watched at every update
    python tests/trust/soak.py networks 100000     a network and an optimizer of its own for each update

The program is cut into ten parts of the same length; told are the megabytes and the processor's time of each.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """
import json, resource, sys, time
import torch

torch.set_num_threads(1)
kind, many = sys.argv[1], int(sys.argv[2])
x, y = torch.randn(8, 4), torch.randn(8, 1)


def made():
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    return net, torch.optim.Adam(net.parameters(), 1e-3)


def size():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


net, optimizer = made()
parts, begun = [], time.process_time()
for n in range(many):
    if kind == "networks":
        net, optimizer = made()
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (n + 1) % (many // 10) == 0:
        now = time.process_time()
        parts.append((size(), now - begun))
        begun = now
print(json.dumps(parts))
"""


@dataclass(frozen=True)
class Soak:
    """What ten parts of a training took."""

    megabytes: list[float]
    seconds: list[float]

    @property
    def grown(self) -> float:
        """Megabytes from the end of the second part on; before it the program is still getting started."""
        return self.megabytes[-1] - self.megabytes[1]

    @property
    def slowed(self) -> float:
        """The last three parts beside the three after the first."""
        return sorted(self.seconds[-3:])[1] / sorted(self.seconds[1:4])[1]


def soak(kind: str, many: int, folder: Path) -> Soak:
    """Under ``whygrad run``; one network is watched at every update as well."""
    script, out = folder / "train.py", folder / "out"
    script.write_text(SCRIPT)
    watch = ["--watch", "--every", "1"] if kind == "updates" else []
    command = [sys.executable, "-m", "whygrad", "run", "--quiet", "--out", str(out), *watch]
    done = subprocess.run(
        [*command, str(script), kind, str(many)], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    parts = json.loads(done.stdout.splitlines()[-1])
    return Soak([size for size, _ in parts], [seconds for _, seconds in parts])


if __name__ == "__main__":
    kind, many = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        found = soak(kind, many, Path(scratch))
    print("megabytes", *(f"{size:.0f}" for size in found.megabytes))
    print("seconds", *(f"{seconds:.1f}" for seconds in found.seconds))
    slope = found.grown / (many * 0.8) * 1e6
    print(f"{many:,} {kind}: {slope:+.1f} MB in a million, the last of them {found.slowed:.2f} of the first")
