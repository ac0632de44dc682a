"""How small and how large gradients may get."""

import pytest

from whygrad.flow import magnitudes


@pytest.mark.parametrize(
    ("size", "top", "gone"),
    [(1e-10, 0.1, True), (1e-7, 0.1, False), (1e-10, 1e-9, False), (0.0, 0.1, False)],
)
def test_a_gradient_vanishes_beside_others_that_do_not(size, top, gone):
    assert magnitudes.vanishes(size, top) is gone


@pytest.mark.parametrize(
    ("early", "late", "exploded"),
    [(1.0, 1e5, True), (1.0, 5e3, False), (1e-6, 10.0, False), (0.0, 1e9, False)],
)
def test_a_gradient_explodes_if_it_is_large_and_has_grown(early, late, exploded):
    assert magnitudes.has_exploded(early, late) is exploded


def test_single_points_do_not_decide():
    assert magnitudes.ends([1e9, 1, 1, 1, 5, 5, 2, 2, 2, 2, 2, 1e9]) == (1, 2)
    assert magnitudes.ends([3.0]) == (3.0, 3.0)
    assert magnitudes.has_fallen(1.0, 1e-5) and not magnitudes.has_fallen(1.0, 1e-3)
    assert magnitudes.spikes(1e-4, 1e4) and not magnitudes.spikes(1.0, 1e5)
