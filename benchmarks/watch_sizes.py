"""How the cost of a summary grows, and how far it is from reading memory once (watch.py --sizes)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from whygrad.frameworks.torch.summaries import tensors_of
from whygrad.summaries import kernel
from whygrad.summaries.sinks.tensorboard import EventFile
from whygrad.summaries.stream import Stream


def quickest(action: Callable[[], object], rounds: int = 7) -> float:
    """Seconds, the least of a few: what else the machine does is not of interest here."""
    found = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return min(found)


def summary(parameters: int, tensors: int, folder: Path, histograms: bool) -> float:
    """One whole summary of so many parameters in so many tensors: before the step, and after it."""
    size = max(1, parameters // tensors)
    weights = [torch.randn(size) for _ in range(tensors)]
    gradients = [torch.randn(size) for _ in range(tensors)]
    sink = EventFile(folder)
    stream = Stream("optimizer", [f"net.{i}.weight" for i in range(tensors)], kernel.load(), sink, histograms)

    def once() -> None:
        stream.begins(tensors_of(gradients), tensors_of(weights))
        stream.ends(1, tensors_of(weights), 0.1, 0.1)

    once()
    seconds = quickest(once)
    sink.close()
    return seconds


def bandwidth(elements: int = 10_000_000) -> tuple[float, float]:
    """Seconds to read so many float32 once (the quickest reduction that torch has), and to scan them."""
    tensor = torch.randn(elements)
    out = torch.empty(7, dtype=torch.float64).numpy()
    counts = torch.tensor([elements]).numpy()
    empty = bytearray(0)
    functions = kernel.load()
    address = [tensor.data_ptr()]
    reading = quickest(lambda: tensor.max(), 15)
    scan = quickest(lambda: functions.measure(address, counts, counts, bytes([2]), out, empty), 15)
    return reading, scan


def main() -> None:
    torch.set_num_threads(1)
    reading, scan = bandwidth()
    print(f"10 million parameters: reading them once {1e3 * reading:.2f} ms ({0.04 / reading:.1f} GB/s),")
    print(f"  all statistics in one pass {1e3 * scan:.2f} ms: {scan / reading:.2f} times the limit")
    with tempfile.TemporaryDirectory() as folder:
        print("\nparameters in 10 tensors, one summary of gradients and weights: numbers / with histograms")
        for parameters in (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000):
            plain, full = (summary(parameters, 10, Path(folder), h) for h in (False, True))
            each = plain / parameters
            print(
                f"  {parameters:>11,}: {1e3 * plain:9.3f} / {1e3 * full:9.3f} ms  ({1e9 * each:.2f} ns each)"
            )
        print("\ntensors, 1 million parameters in all")
        for tensors in (1, 10, 100, 1000):
            plain, full = (summary(1_000_000, tensors, Path(folder), h) for h in (False, True))
            print(f"  {tensors:>11,}: {1e3 * plain:9.3f} / {1e3 * full:9.3f} ms")


if __name__ == "__main__":
    main()
