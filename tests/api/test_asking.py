"""``whygrad.explain(loss, model)`` and ``whygrad.assert_gradients_flow(loss, model)``."""

import linecache
import pickle

import pytest
import torch
from torch import nn

import whygrad


def line_with(text):
    """The line of this file that ends with a text, once."""
    (line,) = [n for n, code in enumerate(linecache.getlines(__file__), 1) if code.rstrip().endswith(text)]
    return line


def through(critic, state, action):
    return -critic(torch.cat([state, action], 1)).mean()


@pytest.fixture
def state():
    return torch.randn(4, 3)


# -- inside of a recording ------------------------------------------------------------------------


def test_the_line_that_cuts(nets, state):
    actor, critic = nets
    with whygrad.watching():
        action = actor(state).detach()  # cut one
        loss = through(critic, state, action)
        found = whygrad.explain(loss, actor)
    (finding,) = found
    assert finding.rule == "detached"
    assert finding.site.line == line_with("# cut one")
    assert finding.confidence == "certain"
    assert finding.subjects == ("actor.0.weight", "actor.0.bias", "actor.2.weight", "actor.2.bias")
    assert (finding.updates, finding.optimizer) == (0, "")
    # AND it shows itself
    assert found and "cut by .detach()" in str(found) and repr(found) in str(found)
    assert "cut by .detach()" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_network_that_is_reached(nets, state):
    actor, critic = nets
    with whygrad.watching():
        found = whygrad.explain(through(critic, state, actor(state)), actor)
    assert not found and list(found) == []
    assert "reaches all of actor (4 parameters)" in str(found)
    assert "reaches all of actor (4 parameters)" in found._repr_html_()


def test_a_cut_in_one_term(nets, state):
    actor, critic = nets
    with whygrad.watching():
        out = actor(state)
        policy = through(critic, state, out.detach())  # cut two
        loss = policy - 0.01 * out.pow(2).mean()
        (finding,) = whygrad.explain(loss, actor)
        # nobody is without a gradient, so this is no failed assertion
        whygrad.assert_gradients_flow(loss, actor)
    assert (finding.rule, finding.site.line) == ("detached", line_with("# cut two"))
    assert "does not learn through" in finding.title


def test_a_block_without_gradients_beside_other_losses(nets, state):
    actor, critic = nets
    with whygrad.watching():
        other = through(critic, state, actor(state))
        with torch.no_grad():  # cut three
            action = actor(state)
        (finding,) = whygrad.explain(through(critic, state, action), actor)
        assert whygrad.explain(other, actor) == ()
    assert (finding.rule, finding.site.line) == ("no-grad-block", line_with("# cut three"))


def test_a_number_that_came_back(nets, state):
    actor, _ = nets
    factor = nn.Parameter(torch.ones(()))
    with whygrad.watching():
        score = actor(state).mean().item()  # cut four
        loss = torch.tensor(score) * factor
        (finding,) = whygrad.explain(loss, actor)
    assert (finding.rule, finding.site.line) == ("numpy-round-trip", line_with("# cut four"))


def test_a_frozen_layer(nets, state):
    actor, _ = nets
    with whygrad.watching():
        actor[0].requires_grad_(False)  # frozen here
        loss = actor(state).mean()
        (finding,) = whygrad.explain(loss, actor)
        whygrad.assert_gradients_flow(loss, actor)
    assert (finding.rule, finding.site.line) == ("frozen", line_with("# frozen here"))
    assert finding.subjects == ("actor.0.weight", "actor.0.bias")


def test_nothing_is_differentiated_and_nothing_is_kept(nets, state):
    actor, critic = nets
    with whygrad.watching() as run:
        loss = through(critic, state, actor(state).detach())
        graph, version = loss.grad_fn, loss._version
        whygrad.explain(loss, actor)
        assert whygrad.explain(loss, actor) == whygrad.explain(loss, actor)
        assert loss.grad_fn is graph and loss._version == version
        assert all(p.grad is None for p in (*actor.parameters(), *critic.parameters()))
        loss.backward()  # the graph is still there
    # the question alone is not an update, and no finding of the run
    assert run.result.updates == () and run.findings == ()


def test_the_real_update_is_judged_as_if_nobody_had_asked(nets):
    actor, critic = nets
    optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
    with whygrad.watching() as run:
        for _ in range(3):
            state = torch.randn(4, 3)
            loss = through(critic, state, actor(state))
            assert whygrad.explain(loss, optimizer) == ()
            assert "critic" in str(whygrad.explain(loss, critic))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert run.healthy
    assert [(u.count, u.recorded) for u in run.result.updates] == [(3, 3)]


def test_an_agent_under_its_own_names(state):
    class Agent:
        def __init__(self):
            self.actor = nn.Linear(3, 2)

        def loss(self):
            return self.actor(state).detach().mean()

    agent = Agent()
    with whygrad.watching():
        (finding,) = whygrad.explain(agent.loss(), agent.actor)
    assert finding.subjects == ("agent.actor.weight", "agent.actor.bias")


# -- what can be asked about ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        lambda actor: actor,
        lambda actor: actor.parameters(),
        lambda actor: list(actor.parameters()),
        lambda actor: [actor[0], actor[2]],
        lambda actor: torch.optim.SGD(actor.parameters(), lr=0.1),
    ],
    ids=["module", "generator", "list", "modules", "optimizer"],
)
def test_a_module_parameters_or_an_optimizer(nets, state, model):
    actor, critic = nets
    with whygrad.watching():
        (finding,) = whygrad.explain(through(critic, state, actor(state).detach()), model(actor))
    assert finding.subjects == ("actor.0.weight", "actor.0.bias", "actor.2.weight", "actor.2.bias")


def test_the_optimizer_is_named(nets, state):
    actor, critic = nets
    with whygrad.watching():
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        (finding,) = whygrad.explain(through(critic, state, actor(state).detach()), actor_opt)
    assert finding.optimizer == "actor_opt"


def test_a_model_that_has_no_name_goes_by_its_class(state):
    factor = nn.Parameter(torch.ones(()))
    (finding,) = whygrad.explain(factor * 2, nn.Linear(3, 2))
    assert finding.subjects == ("Linear.weight", "Linear.bias")


@pytest.mark.parametrize(
    ("loss", "model", "kind", "sentence"),
    [
        (0.5, nn.Linear(1, 1), TypeError, r"this is a float: it has left the framework"),
        ("loss", nn.Linear(1, 1), TypeError, r"needs the loss as a tensor of torch, and this is a str"),
        (torch.ones(()), 3, TypeError, r"needs a module, an optimizer or parameters, and this is a int"),
        (torch.ones(()), {}, TypeError, r"and this is a dict"),
        (torch.ones(()), [], ValueError, r"this list has no parameters"),
        (torch.ones(()), nn.ReLU(), ValueError, r"this ReLU has no parameters"),
    ],
)
def test_wrong_use_is_one_sentence(loss, model, kind, sentence):
    with pytest.raises(kind, match=sentence):
        whygrad.explain(loss, model)
    with pytest.raises(kind, match=sentence):
        whygrad.assert_gradients_flow(loss, model)


# -- without a recording --------------------------------------------------------------------------


def test_without_a_recording_it_says_what_it_does_not_know(nets, state, untouched):
    actor, critic = nets
    (finding,) = whygrad.explain(through(critic, state, actor(state).detach()), actor)
    assert (finding.rule, finding.confidence) == ("loss-independent", "possible")
    assert finding.title == "actor gets no gradient: this loss does not lead back to it"
    assert "leads to critic only" in finding.why and "was not recorded" in finding.why
    assert "with whygrad.watching():" in finding.fix
    assert finding.subjects[0] == "actor.0.weight"


def test_without_a_recording_who_is_reached_is_still_certain(nets, state):
    actor, critic = nets
    loss = through(critic, state, actor(state))
    assert whygrad.explain(loss, actor) == ()
    whygrad.assert_gradients_flow(loss, critic)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (lambda out: out.detach().mean(), "carries no gradient at all"),
        (lambda out: out.detach().mean().requires_grad_(), "makes a new leaf of a value without history"),
    ],
)
def test_a_loss_with_nothing_behind_it(nets, state, loss, words):
    actor, _ = nets
    (finding,) = whygrad.explain(loss(actor(state)), actor)
    assert words in finding.why


def test_a_forward_pass_before_the_block_was_not_recorded(nets, state):
    actor, critic = nets
    loss = through(critic, state, actor(state).detach())
    with whygrad.watching():
        (finding,) = whygrad.explain(loss, actor)
        (later,) = whygrad.explain(loss * 2, actor)
    assert finding.confidence == later.confidence == "possible"


# -- for test suites ------------------------------------------------------------------------------


def test_the_assertion_passes_silently(nets, state, untouched):
    actor, critic = nets
    with whygrad.watching():
        assert whygrad.assert_gradients_flow(through(critic, state, actor(state)), actor) is None


def test_the_assertion_fails_with_names_line_and_fix(nets, state, untouched):
    actor, critic = nets
    with pytest.raises(AssertionError) as caught, whygrad.watching():
        action = actor(state).detach()  # cut five
        whygrad.assert_gradients_flow(through(critic, state, action), actor)
    text = str(caught.value)
    assert text.startswith("this loss gives no gradient to actor.0, actor.2 (4 parameters)\n")
    assert f"test_asking.py:{line_with('# cut five')}" in text
    assert "write `action = actor(state)`" in text


def test_the_assertion_sees_zeros(nets, state):
    actor, critic = nets
    with whygrad.watching(), pytest.raises(AssertionError, match=r"only zeros through round\(\)"):
        whygrad.assert_gradients_flow(through(critic, state, actor(state).round()), actor)


def test_the_assertion_names_only_what_is_missing(nets, state):
    # GIVEN two layers of which one gets its gradient
    actor, _ = nets
    with whygrad.watching(), pytest.raises(AssertionError, match=r"no gradient to actor\.0 \(2 parameters\)"):
        hidden = actor[1](actor[0](state)).detach()
        whygrad.assert_gradients_flow(actor[2](hidden).mean(), actor)


def test_the_assertion_fails_without_a_recording_too(nets, state):
    actor, critic = nets
    with pytest.raises(AssertionError, match="around the forward pass"):
        whygrad.assert_gradients_flow(through(critic, state, actor(state).detach()), actor)
