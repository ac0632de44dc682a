"""Which weights a network was given: its own, another's, or a mixture."""

import numpy as np
import pytest

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_broken_weights_are_no_copy_and_nobody_prints(capfd, broken):
    from whygrad.frameworks.tensorflow.copying import parts_of

    old, source = np.arange(6.0), np.ones(6)
    assert parts_of(0.75 * old + 0.25 * source, old, source) == (0.75, 0.25)
    for place in range(3):
        given = [0.5 * old, old.copy(), source.copy()]
        given[place][2] = broken
        assert parts_of(*given) is None
    assert capfd.readouterr() == ("", "")
