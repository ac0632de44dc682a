"""One line of source, rewritten or left alone."""

import pytest

from whygrad.rules import rewrite


@pytest.mark.parametrize(
    ("code", "new"),
    [
        ("a = actor(s).detach()", "a = actor(s)"),
        ("a = actor(s).detach().cpu()", "a = actor(s).cpu()"),
        ("q = critic(s, actor(s).detach()", "q = critic(s, actor(s)"),
        ("with f(x.detach()):", "with f(x):"),
        ("é = 'ü'; a = b.detach()  # no .detach()", "é = 'ü'; a = b  # no .detach()"),
        ("print('.detach()')", None),
        ("a = x.detach() + y.detach()", None),
        ("a = ( ] nonsense", None),
        ("", None),
    ],
)
def test_without_calls(code, new):
    assert rewrite.without_calls(code, "detach") == new


@pytest.mark.parametrize(
    ("code", "terms"),
    [
        ("loss = (lp * a).mean() + 0.5 * v - e  # all", ["(lp * a).mean()", "0.5 * v", "e"]),
        ("return -(a + b)", ["-(a + b)"]),
        ("loss = lp * a", ["lp * a"]),
        ("loss.backward()", []),
    ],
)
def test_the_addends_of_a_line(code, terms):
    assert rewrite.addends(code) == terms


def test_without_calls_takes_a_whole_chain():
    assert rewrite.without_calls("a = f(x).detach().cpu().numpy()", "numpy", "cpu", "detach") == "a = f(x)"


def test_without_attribute_leaves_the_users_own_data_alone():
    assert rewrite.without_attribute("x = y.data", "data") == "x = y"
    assert rewrite.without_attribute("x = self.data", "data") is None


def test_moved_inside_keeps_precedence():
    new = rewrite.moved_inside("s = nn.Parameter(-0.5 * torch.ones(2)).to(device)", "Parameter")
    assert new == "s = nn.Parameter((-0.5 * torch.ones(2)).to(device))"


@pytest.mark.parametrize(
    ("code", "new"),
    [("x *= y + 1", "x = x * (y + 1)"), ("h.add_(z)", "h = h.add(z)"), ("x[0] += 1", None), ("f(x)", None)],
)
def test_out_of_place(code, new):
    assert rewrite.out_of_place(code) == new


def test_with_name_replaces_whole_names_only():
    assert rewrite.with_name("Adam(actor.parameters())", "actor", "critic") == "Adam(critic.parameters())"
    assert rewrite.with_name("Adam(actor_2.parameters())", "actor", "critic") is None
    assert rewrite.with_name("Adam(self.actor.parameters())", "actor", "critic") is None


def test_uncommented():
    assert rewrite.uncommented("a = '#'  # why") == "a = '#'"
    assert rewrite.uncommented("f(  # open") == "f(  # open"
    assert rewrite.uncommented("") == ""


def test_a_variable_that_is_given_to_itself():
    assert rewrite.is_idle("values = values") and not rewrite.is_idle("array = a")


@pytest.mark.parametrize(
    ("code", "name", "new"),
    [
        ("delta = r + 0.99 * v2 - v", "v2", "delta = r + 0.99 * v2.detach() - v"),
        ("d = r + g * net(s2) - net(s)", "", "d = r + (g * net(s2)).detach() - net(s)"),
        ("d = r + g * f(s2) - h * f(s)", "", None),
    ],
)
def test_the_value_of_the_next_state_is_stopped_and_the_prediction_is_not(code, name, new):
    assert rewrite.stopped_value(code, name, lambda v: f"{rewrite.bracketed(v)}.detach()") == new


def test_writes_in_place():
    new = "self.sigma = self.sigma.mul(1 - b).add(c)"
    assert rewrite.out_of_place("self.sigma.mul_(1 - b).add_(c)") == new
    assert rewrite.written_element("probs[~legal] = 0.0") == "probs"
    assert rewrite.written_element("probs = 0.0") == ""
