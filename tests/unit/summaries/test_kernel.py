"""Statistics against a slow oracle, in both kernels; and both kernels against each other, bit by bit."""

import math
from array import array
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from whygrad.summaries import kernel, numpy_kernel

KERNELS = {"numpy": numpy_kernel}
try:
    from whygrad.summaries import _kernel

    KERNELS["native"] = _kernel
except ImportError:  # no compiler: the other one is tested
    pass

QUICK = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.fixture(params=sorted(KERNELS))
def functions(request):
    return KERNELS[request.param]


def figures(functions, raw, kind, total=None, bins=False):
    counts = array("q", [raw.size])
    totals = array("q", [raw.size if total is None else total])
    out, table = array("d", bytes(8 * 7)), array("I", bytes(4 * 512)) if bins else array("I")
    functions.measure([raw], counts, totals, bytes([kind]), out, table)
    return (list(out), list(table)) if bins else list(out)


def oracle(values, unstored=0):
    """Exact arithmetic, element by element."""
    finite = [v for v in values if math.isfinite(v)] + [0.0] * unstored
    many = len(values) + unstored
    odd = sum(not math.isfinite(v) for v in values)
    zeros = (sum(v == 0 for v in values) + unstored) / many if many else 0.0
    if not finite:
        return [math.nan] * 4 + [math.nan if many else 0.0, zeros, odd]
    low, high = float(min(finite)), float(max(finite))
    if max(-low, high) < 1e100 and all(abs(v) > 1e-100 for v in values if v):
        mean = math.fsum(finite) / len(finite)
        spread = math.fsum((v - mean) ** 2 for v in finite) / len(finite)
        return [mean, math.sqrt(spread), low, high, math.sqrt(math.fsum(v * v for v in finite)), zeros, odd]
    finite = [Fraction(v) for v in finite]
    mean = sum(finite) / len(finite)
    spread = sum((v - mean) ** 2 for v in finite) / len(finite)
    return [float(mean), root(spread), low, high, root(sum(v * v for v in finite)), zeros, odd]


def root(square):
    """Of a number that may be far outside of what a float can hold."""
    if not square:
        return 0.0
    power = (square.numerator.bit_length() - square.denominator.bit_length()) // 2 * 2
    half = math.sqrt(float(square / Fraction(2) ** power))
    try:
        return math.ldexp(half, power // 2)
    except OverflowError:
        return math.inf


def same(found, wanted, values):
    """Equal, up to the rounding of sums in float64."""
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    close = [
        math.isclose(a, b, rel_tol=1e-9, abs_tol=max(1e-14 * largest, 1e-323))
        for a, b in zip(found, wanted, strict=True)
    ]
    return all(c or (math.isnan(a) and math.isnan(b)) for c, a, b in zip(close, found, wanted, strict=True))


SHAPES = st.sampled_from([0, 1, 2, 7, 8, 9, 100, 4095, 4096, 4097])
ELEMENTS = {
    "float16": (np.float16, 0),
    "float32": (np.float32, 2),
    "float64": (np.float64, 3),
}


@st.composite
def tensors(draw):
    dtype, kind = ELEMENTS[draw(st.sampled_from(sorted(ELEMENTS)))]
    special = [
        0.0,
        -0.0,
        math.nan,
        math.inf,
        -math.inf,
        np.finfo(dtype).max,
        np.finfo(dtype).tiny / 4,
        1.0,
        -1e-3,
    ]
    size = draw(SHAPES)
    few = draw(st.lists(st.sampled_from(special) | st.floats(-2, 2, width=16), min_size=1, max_size=12))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    scale = draw(st.sampled_from([0.0, 1e-3, 1.0, 1e3]))
    shift = draw(st.sampled_from([0.0, 1.0, -1e3]))
    with np.errstate(over="ignore"):
        values = (rng.standard_normal(size) * scale + shift).astype(dtype)
        places = rng.integers(0, max(size, 1), len(few))
        if size:
            values[places] = np.array(few, dtype)
    return values, kind


@QUICK
@given(tensors(), st.integers(0, 50))
def test_statistics_are_those_of_the_oracle(case, unstored):
    values, kind = case
    for name, functions in KERNELS.items():
        found = figures(functions, values, kind, values.size + unstored)
        numbers = [float(v) for v in values]
        assert same(found, oracle(numbers, unstored), numbers), (name, found, oracle(numbers, unstored))


@QUICK
@given(arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats(width=64)))
@example(np.array([1.7e308, 1.7e308, -1e308]))
@example(np.array([5e-324, 0.0, 5e-324]))
@example(np.array([1e-200, 2e-200]))
@example(np.full(5000, 0.1))
@example(np.array([1e15, 1e15 + 1, 1e15 + 2]))
def test_any_float64_whatever_its_size(values):
    for name, functions in KERNELS.items():
        found, wanted = figures(functions, values, 3), oracle(values.tolist())
        assert same(found, wanted, values.tolist()), (name, found, wanted)


@QUICK
@given(tensors(), st.integers(0, 5))
def test_both_kernels_give_the_same_bits(case, unstored):
    values, kind = case
    results = [figures(f, values, kind, values.size + unstored, bins=True) for f in KERNELS.values()]
    (first, table), (last, other) = results[0], results[-1]
    assert np.array_equal(np.array(first), np.array(last), equal_nan=True)
    assert table == other


@pytest.mark.torch
def test_bfloat16_is_read_as_torch_reads_it(functions):
    torch = pytest.importorskip("torch")
    tensor = torch.cat([torch.randn(5000), torch.tensor([0.0, 1e-39, 3e38, math.nan, -math.inf])]).bfloat16()
    raw = tensor.view(torch.int16).numpy().view(np.uint16)
    values = tensor.double().tolist()
    assert same(figures(functions, raw, kernel.KINDS["bfloat16"]), oracle(values), values)


def test_every_float16_there_is(functions):
    raw = np.arange(65536, dtype=np.uint16).view(np.float16)
    values = raw.astype(float).tolist()
    found, table = figures(functions, raw, kernel.KINDS["float16"], bins=True)
    assert same(found, oracle(values), values)
    assert sum(table) == 65536
    assert table[255] + table[511] == 2 * 1024  # NaN and Inf


def test_an_address_a_buffer_and_nothing(functions):
    values = np.random.default_rng(0).normal(size=10).astype(np.float32)
    counts = array("q", [10, 10, 10])
    out = array("d", bytes(8 * 21))
    functions.measure([values.ctypes.data, values, None], counts, counts, bytes([2, 2, 2]), out, array("I"))
    assert out[:7] == out[7:14]
    assert all(math.isnan(v) for v in out[14:])


def test_exponents_are_counted(functions):
    values = np.array([1.0, 1.5, 2.0, -1.0, 0.0, -0.0, 1e-45, 0.3], np.float32)
    _, table = figures(functions, values, 2, bins=True)
    assert {i: n for i, n in enumerate(table) if n} == {127: 2, 128: 1, 256 + 127: 1, 0: 2, 256: 1, 125: 1}


@pytest.mark.parametrize("size", [1, 1000, 16_384, 16_385, 100_000])
def test_how_far_a_tensor_has_moved(functions, size):
    rng = np.random.default_rng(0)
    old = rng.standard_normal(size).astype(np.float32)
    new = old + np.float32(0.01) * rng.standard_normal(size).astype(np.float32)
    counts, out, store = array("q", [size]), array("d", [0.0]), bytearray(kernel.SAMPLE * 8)
    functions.keep([old], counts, bytes([2]), kernel.SAMPLE, store)
    functions.moved([new], counts, bytes([2]), kernel.SAMPLE, store, out)
    exact = np.linalg.norm((new - old).astype(float)) / np.linalg.norm(old.astype(float))
    assert out[0] == pytest.approx(exact, rel=1e-9 if size <= kernel.SAMPLE else 0.05)


def test_a_variable_that_was_zero_has_moved_by_its_whole_size(functions):
    counts, out, store = array("q", [3]), array("d", [0.0]), bytearray(kernel.SAMPLE * 8)
    functions.keep([np.zeros(3)], counts, bytes([3]), kernel.SAMPLE, store)
    functions.moved([np.ones(3)], counts, bytes([3]), kernel.SAMPLE, store, out)
    assert out[0] == 1.0
    functions.moved([np.zeros(3)], counts, bytes([3]), kernel.SAMPLE, store, out)
    assert out[0] == 0.0


def test_a_buffer_that_is_too_short_is_refused():
    native = KERNELS.get("native")
    if native is None:
        pytest.skip("no native kernel here")
    with pytest.raises(ValueError, match="too short"):
        native.measure(
            [np.zeros(3)], array("q", [3]), array("q", [3]), bytes([3]), array("d", [0.0]), array("I")
        )


@given(st.binary(max_size=300))
@QUICK
def test_checksums(data):
    from tensorboard.compat.tensorflow_stub import pywrap_tensorflow as reference

    for functions in KERNELS.values():
        assert functions.crc32c(data) == reference.crc32c(data)


def test_the_kernel_is_chosen_by_what_there_is(monkeypatch):
    monkeypatch.setenv("WHYGRAD_KERNEL", "numpy")
    assert kernel.load() is numpy_kernel
    monkeypatch.setenv("WHYGRAD_KERNEL", "none")
    with pytest.raises(kernel.NoKernel, match="numpy"):
        kernel.load()
