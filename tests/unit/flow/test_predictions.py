"""Arrays that are trained on what they were, and networks that are copied onto themselves."""

import pytest

from whygrad.flow.predictions import same_states
from whygrad.flow.self_copies import onto_itself
from whygrad.flow.syncs import called_names
from whygrad.model import Site


@pytest.mark.parametrize(
    ("fit", "same"),
    [
        ("model.fit(s, q, epochs=1)", True),
        ("model.train_on_batch(x=s, y=q)", True),
        ("model.fit(s2, q)", False),
        ("model(s)", False),
    ],
)
def test_the_states_of_predict_and_fit(tmp_path, fit, same):
    file = tmp_path / "train.py"
    file.write_text(f"def train(s, s2):\n    q = model.predict(s, verbose=0)\n    {fit}\n")
    sites = [Site.read(str(file), line, "train") for line in (2, 3)]
    assert same_states(*sites) is same
    assert not same_states(sites[0], Site.read(str(file), 3, "other"))


@pytest.mark.parametrize(
    ("sync", "line"),
    [
        ("target.set_weights(target.get_weights())", 1),
        ("self.target.load_state_dict(self.target.state_dict())", 1),
        ("for a, b in zip(target.variables, target.variables):\n    a.assign(b)", 1),
        ("target.set_weights(online.get_weights())", None),
        ("for a, b in zip(target.variables, online.variables):\n    a.assign(b)", None),
    ],
)
def test_a_sync_onto_itself(tmp_path, sync, line):
    file = tmp_path / "train.py"
    file.write_text(f"{sync}\n")
    assert onto_itself(str(file)) == line


def test_a_network_that_is_asked_by_a_method_is_called(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("q = self.target_model.predict(s)\nself.target.set_weights(w)\n")
    assert "target_model" in called_names(str(file), 1)
    assert "target" not in called_names(str(file), 2)
