"""Scripts in the many styles that people write: each fault is named, each healthy program is left in peace."""

from pathlib import Path

from tests.labelled import scripts, troubles

HERE = Path(__file__).parent


# A class for each framework, so that two workers share them.
class TestTorch:
    @scripts(HERE, "torch")
    def test_as_labelled(self, label, forks):
        assert list(troubles(label, *forks.run("torch", HERE / label["file"]))) == []


class TestTensorFlow:
    @scripts(HERE, "tensorflow", kept=())
    def test_as_labelled(self, label, forks):
        assert list(troubles(label, *forks.run("tensorflow", HERE / label["file"]))) == []


class TestJax:
    @scripts(HERE, "jax", kept=())
    def test_as_labelled(self, label, forks):
        assert list(troubles(label, *forks.run("jax", HERE / label["file"]))) == []
