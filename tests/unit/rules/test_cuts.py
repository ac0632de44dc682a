"""The words for a path that is cut: detached, no-grad-block, numpy-round-trip, nondifferentiable-op."""

import pytest

from whygrad.model import Confidence, Mark, Severity, Site, Step


def test_detached_says_who_what_and_what_to_write(said):
    finding = said(
        "detached", "pi = self.actor(s).detach()", op=".detach()", optimizer="actor_opt", updates=7
    )
    assert finding.title == "actor gets no gradient: cut by .detach()"
    assert finding.fix == "write `pi = self.actor(s)`"
    assert finding.why == (
        "`.detach()` keeps the numbers and drops their history: to `backward`, all that actor did is a constant."
    )
    assert "`loss.requires_grad = True`" in finding.avoid
    assert finding.network == "actor"
    assert finding.subjects == (
        "actor.net.0.weight",
        "actor.net.0.bias",
        "actor.net.2.weight",
        "actor.net.2.bias",
    )
    assert (finding.optimizer, finding.updates) == ("actor_opt", 7)


def test_detached_masked_names_the_lost_path_and_the_living_term(said):
    chain = (
        Step("actor.net.0.weight"),
        Step(".detach()", mark=Mark.CUT),
        Step("x = torch.cat([s, a], -1)"),
        Step("self.body(x)", Site("/home/me/nets.py", 9, "forward", "return self.body(x)")),
        Step("loss = -torch.min(critic(s, a), 0).mean()"),
    )
    finding = said("detached", "a = actor(s).detach()", op=".detach()", masked=True, chain=chain)
    assert finding.title == (
        "actor does not learn through critic(s, a): cut by .detach() (another term of the loss still moves it)"
    )
    assert finding.avoid == ""  # no error was raised that one would silence


def test_detached_masked_inside_the_call_that_loses_it(said):
    line = Site("/home/me/train.py", 41, "update", "q = self.critic(s, pi.detach())  # keep the critic")
    finding = said(
        "detached", op=".detach()", masked=True, site=line, chain=(Step(".detach()", line, mark=Mark.CUT),)
    )
    assert finding.title.startswith("actor does not learn through self.critic(s, pi): cut by .detach()")


def test_detached_masked_without_a_chain_names_the_loss(said):
    loss = Site("/home/me/train.py", 50)
    finding = said("detached", op=".detach()", masked=True, loss=loss)
    assert finding.title.startswith("actor does not learn through the loss at line 50: cut by .detach()")


@pytest.mark.parametrize(
    ("op", "code", "fix"),
    [
        (".data", "logp = dist.log_prob(a).data", "write `logp = dist.log_prob(a)`"),
        (
            ".detach()",
            "loss = a.detach() * b.detach()",
            "take `.detach()` away from the value through which actor must learn",
        ),
        (".detach()", "", "take `.detach()` away from the value through which actor must learn"),
        (
            ".detach()",
            'q = critic(s, a.detach())  # "keep the critic"',
            "write `q = critic(s, a)`; this optimizer changes only what it is given",
        ),
    ],
)
def test_detached_rewrites_only_what_is_sure(said, op, code, fix):
    assert said("detached", code, op=op).fix == fix


def test_detached_in_a_helper_keeps_the_targets_stopped(said):
    loss = Site("/home/me/train.py", 50, "update", "loss = -best(s, actor(s)).mean()")
    finding = said("detached", "return q(x).detach()", op=".detach()", function="best", loss=loss)
    assert finding.fix == "write `return q(x)`, and cut where a constant is meant: `best(...).detach()`"


def test_an_operation_that_has_no_gradient(said):
    finding = said("detached", "x = my_kernel(actor(s))", op="my_kernel", meant=False)
    assert finding.title == "actor gets no gradient: cut by my_kernel"
    assert finding.why.startswith("`my_kernel` passes no gradient back")
    assert "`torch.autograd.Function`" in finding.fix


def test_no_grad_block(said):
    finding = said(
        "no-grad-block",
        "q = self.local(s)",
        block="torch.no_grad()",
        inside=Site("/home/me/train.py", 57, "update", "self.local(s)"),
    )
    assert finding.title == "actor gets no gradient: computed under torch.no_grad()"
    assert finding.why == (
        "`self.local(s)` (line 57) runs under `torch.no_grad()`: nothing is recorded, the result is a constant."
    )
    assert finding.fix == "move `self.local(s)` out of the `torch.no_grad()` block"


def test_no_grad_decorator_and_switch(said):
    decorated = said("no-grad-block", "return q(s)", block="@torch.no_grad()", function="q_values")
    assert decorated.fix.startswith("take `@torch.no_grad()` off `q_values`")
    switched = said("no-grad-block", "q = net(s)", block="torch.set_grad_enabled(False)")
    assert switched.fix.startswith("call `torch.set_grad_enabled(True)` before `q = net(s)`")


def test_inference_tensor(said):
    finding = said("no-grad-block", "obs = torch.stack(o)", block="torch.inference_mode()", refused=True)
    assert finding.title == "actor cannot learn from a tensor that was made under torch.inference_mode()"
    assert "`.clone()`" in finding.fix


def test_numpy_round_trip(said):
    back = {"back": "torch.tensor", "back_at": Site("/home/me/train.py", 53)}
    finding = said("numpy-round-trip", "loss -= lp.item() * ret", left=".item()", **back)
    assert finding.title == "actor gets no gradient: the value leaves PyTorch through .item()"
    assert finding.why == (
        "`.item()` gives plain numbers, without history; `torch.tensor` (line 53) is a new constant that only "
        "looks the same."
    )
    assert finding.fix == "write `loss -= lp * ret`; then the `torch.tensor(...)` is not needed"
    assert "requires_grad=True" in finding.avoid


@pytest.mark.parametrize(
    ("left", "code", "fix"),
    [
        (".numpy()", "a = actor(s).detach().cpu().numpy()", "write `a = actor(s)`"),
        (
            "float()",
            "losses.append(float(loss))",
            "write `losses.append(loss)` and collect with `torch.stack(...)`",
        ),
        (
            ".numpy()",
            "a = np.clip(actor(s).numpy(), -1, 1)",
            "stay in PyTorch: write `a = torch.clamp(actor(s), -1, 1)`",
        ),
        (
            ".item()",
            "x = np.array([v.item() for v in values])",
            "stay in PyTorch: `torch.stack` on the tensor itself instead of `np.array` on its numbers",
        ),
        (
            "np.clip",
            "a = torch.from_numpy(np.clip(a, -1, 1))",
            "stay in PyTorch: `torch.clamp` on the tensor itself instead of `np.clip` on its numbers",
        ),
        ("", "", "keep it a tensor all the way to the loss"),
    ],
)
def test_numpy_round_trip_fixes(said, left, code, fix):
    assert said("numpy-round-trip", code, left=left).fix.startswith(fix)


def test_numpy_round_trip_by_a_copy(said):
    copy = {"way": "copy", "left": "torch.tensor"}
    one = said("numpy-round-trip", "x = torch.tensor(actor(s))", **copy)
    assert one.title == "actor gets no gradient: copied by torch.tensor(tensor)"
    assert one.fix == "write `x = actor(s)`"
    many = said("numpy-round-trip", "x = torch.tensor(values)", many=True, **copy)
    assert many.fix == "write `x = torch.stack(values)`"


def test_sample_of_a_reparameterised_distribution(said):
    finding = said("nondifferentiable-op", "u = dist.sample()", op="Normal.sample", masked=True)
    assert finding.title.startswith("actor does not learn through this path: cut by Normal.sample()")
    assert finding.fix.startswith("write `u = dist.rsample()`")


def test_sample_of_a_discrete_distribution_has_no_rsample(said):
    finding = said("nondifferentiable-op", "a = dist.sample()", op="Categorical.sample")
    assert "rsample" not in finding.fix
    assert "log_prob" in finding.fix and "gumbel_softmax" in finding.fix


@pytest.mark.parametrize(
    ("op", "shown", "fix"),
    [
        ("argmax", "argmax()", "F.gumbel_softmax"),
        ("one_hot", "one_hot()", "F.gumbel_softmax"),
        ("multinomial", "multinomial()", "log_prob"),
        ("gt", "a comparison (>)", "torch.sigmoid"),
        (".long()", ".long()", "only as an index"),
        ("round", "round()", "(torch.round(x) - x).detach()"),
        ("my_op", "my_op()", "log_prob"),
    ],
)
def test_nondifferentiable_ops(said, op, shown, fix):
    finding = said("nondifferentiable-op", "y = x", op=op)
    assert finding.title == f"actor gets no gradient: cut by {shown}"
    assert fix in finding.fix


def test_round_gives_zeros(said):
    finding = said("nondifferentiable-op", "y = torch.round(x)", op="round", zero=True)
    assert finding.title == "actor gets only zeros through round()"
    assert finding.why.endswith("what it passes back is exactly zero.")
    assert finding.fix.startswith("write the straight-through form, `y = x + (torch.round(x) - x).detach()`;")
    assert finding.avoid == ""


def test_outside_tape(said):
    finding = said("outside-tape", "a = actor(s)", kind="before", tape=Site("/home/me/train.py", 44))
    assert finding.title == "actor gets no gradient: it ran before the tape started"
    assert finding.why.startswith("The tape (line 44) knows only what ran inside of it")
    assert said("outside-tape").fix == "move the forward pass and the loss into the tape's block"


def test_severity_and_confidence_pass_through(said):
    finding = said("detached", severity=Severity.WARNING, confidence=Confidence.LIKELY)
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.LIKELY)
