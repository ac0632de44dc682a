"""What the rules say about TensorFlow programs: its own words, and lines that can be pasted."""

import ast
import re

import pytest
from tests.unit.rules.conftest import a_cause

from whygrad.model import Mark, Parameter, Site, Step
from whygrad.rules import words
from whygrad.rules.dialects import TENSORFLOW
from whygrad.rules.paths.detached import Detached
from whygrad.rules.table import RULES

LAYERS = ("dense.kernel", "dense.bias", "dense_1.kernel", "dense_1.bias")
TORCH = re.compile(
    r"torch|requires_grad|backward|detach|\.step\(|\.parameters\(|PyTorch|nn\.[A-Z]|state_dict"
)
STOP = "tf.stop_gradient"


@pytest.fixture
def on_tape(said, parameters):
    """What a rule says about a cause that was seen in TensorFlow."""

    def say(rule, code="", subjects=None, **more):
        subjects = parameters("actor", LAYERS) if subjects is None else subjects
        return said(rule, code, subjects, framework="tensorflow", **more)

    return say


def pasted(finding):
    """The first line of code that the fix tells to write."""
    line = re.search(r"write (?:the straight-through form, )?`([^`]+)`", finding.fix)
    assert line, finding.fix
    ast.parse(line[1] if not line[1].startswith(("return ", "with ")) else f"def f():\n  {_block(line[1])}")
    return line[1]


def _block(line):
    return f"{line} pass" if line.endswith(":") else line


TORCH_ONLY = frozenset(
    (
        *("no-grad-block", "zero-grad-missing", "zero-grad-before-step"),
        *("clip-before-backward", "backward-twice", "in-place-modified"),
    )
)


@pytest.mark.parametrize("slug", RULES)
def test_no_rule_speaks_of_pytorch(slug):
    """Judging may know little; the sentence must still be one, and of the right framework."""
    if slug in TORCH_ONLY:
        return
    finding = RULES[slug].phrase(a_cause(slug, dialect=TENSORFLOW))
    text = " ".join((finding.title, finding.why, finding.fix, finding.avoid))
    assert not TORCH.search(text), text
    assert "  " not in text and text.count("`") % 2 == 0


@pytest.mark.parametrize(
    ("code", "op", "new"),
    [
        ("actions = ops.stop_gradient(actor(states))", "ops.stop_gradient", "actions = actor(states)"),
        ("y = tf.stop_gradient(a + b) * c", STOP, "y = (a + b) * c"),
        ("loss = -tf.stop_gradient(logp * adv)", STOP, "loss = -(logp * tf.stop_gradient(adv))"),
        (
            "loss = -tf.reduce_mean(tf.stop_gradient(logp * advantage))",
            STOP,
            "loss = -tf.reduce_mean(logp * tf.stop_gradient(advantage))",
        ),
        ("q = critic([s, tf.stop_gradient(a)])", STOP, "q = critic([s, a])"),
    ],
)
def test_detached_is_let_through(on_tape, code, op, new):
    finding = on_tape("detached", code, op=op)
    assert finding.title == f"actor gets no gradient: cut by {op}"
    assert finding.why.endswith("to `tape.gradient`, all that actor did is a constant.")
    assert pasted(finding) == new
    assert "`None`" in finding.avoid


def test_detached_in_a_helper_keeps_the_targets_stopped(on_tape):
    loss = Site("/home/me/train.py", 50, "update", "loss = -tf.reduce_mean(best(s, actor(s)))")
    finding = on_tape("detached", "return tf.stop_gradient(q(x))", op=STOP, function="best", loss=loss)
    assert finding.fix == (
        "write `return q(x)`, and cut where a constant is meant: `tf.stop_gradient(best(...))`"
    )


def test_detached_masked_names_the_call_without_the_stop(on_tape):
    line = Site("/home/me/train.py", 41, "update", "q = critic([s, tf.stop_gradient(a)])")
    finding = on_tape("detached", site=line, op=STOP, masked=True, chain=(Step(STOP, line, mark=Mark.CUT),))
    assert finding.title.startswith("actor does not learn through critic([s, a]): cut by tf.stop_gradient")
    assert finding.avoid == ""


def test_state_that_goes_through_a_variable(on_tape):
    assigned = {"op": "Variable.assign", "assigned": True}
    finding = on_tape("nondifferentiable-op", "self.trace.assign(carried)", **assigned)
    assert finding.title == "actor gets no gradient: cut by Variable.assign"
    assert finding.fix.startswith("use the tensor `carried`, not `self.trace`, on the way to the loss")


@pytest.mark.parametrize(
    ("op", "code", "shown", "fix"),
    [
        ("tf.argmax", "a = tf.argmax(q, 1)", "tf.argmax", "p + tf.stop_gradient(one_hot - p)"),
        ("argmax", "a = choose(q)", "tf.argmax", "tf.gather(q, a, axis=1, batch_dims=1)"),
        ("multinomial", "a = draw(q)", "tf.random.categorical", "-log_prob * advantage"),
        ("sample", "a = tfd.OneHotCategorical(q).sample()", "OneHotCategorical.sample()", "-log_prob"),
        ("greater", "m = tf.cast(g > 0.5, tf.float32)", "a comparison (>)", "tf.sigmoid"),
        ("tf.cast", "i = tf.cast(x, tf.int32)", "tf.cast", "only as an index"),
        ("tf.argsort", "o = tf.argsort(scores)", "tf.argsort", "tf.nn.softmax(scores)"),
        ("tf.round", "y = f(x)", "tf.round", "`x + tf.stop_gradient(tf.round(x) - x)`"),
    ],
)
def test_operations_without_a_derivative(on_tape, op, code, shown, fix):
    finding = on_tape("nondifferentiable-op", code, op=op)
    assert finding.title == f"actor gets no gradient: cut by {shown}"
    assert fix in finding.fix


def test_rounding_is_rewritten_straight_through(on_tape):
    finding = on_tape("nondifferentiable-op", "return tf.round(scaled) / GRID", op="tf.round")
    assert pasted(finding) == "return (scaled + tf.stop_gradient(tf.round(scaled) - scaled)) / GRID"
    finding = on_tape("nondifferentiable-op", "u = tf.floor(x + 1)", op="floor")
    assert pasted(finding) == "u = (x + 1) + tf.stop_gradient(tf.floor(x + 1) - (x + 1))"
    zeros = on_tape("nondifferentiable-op", "y = tf.sign(x)", op="tf.sign", zero=True)
    assert zeros.title == "actor gets only zeros through tf.sign"


@pytest.mark.parametrize(
    ("left", "way", "code", "new"),
    [
        ("float()", "numbers", "total += float(a + 0.5 * b)", "total += a + 0.5 * b"),
        ("float()", "numbers", "total = 2 * float(a + b)", "total = 2 * (a + b)"),
        (".numpy()", "numbers", "probs = policy(states).numpy()", "probs = policy(states)"),
        ("np.clip", "numbers", "a = np.clip(actor(s), -1, 1)", "a = tf.clip_by_value(actor(s), -1, 1)"),
        ("np.mean", "numbers", "loss = -np.mean(x * y, axis=0)", "loss = -tf.reduce_mean(x * y, axis=0)"),
        (
            "model.predict",
            "predict",
            "q = tf.gather(net.predict(s, verbose=0), a)",
            "q = tf.gather(net(s), a)",
        ),
        ("tf.numpy_function", "callback", "n = tf.numpy_function(sim, [s, a], tf.float32)", "n = sim(s, a)"),
        ("tf.constant", "copy", "x = tf.constant(actor(s))", "x = actor(s)"),
    ],
)
def test_numbers_stay_tensors(on_tape, left, way, code, new):
    finding = on_tape("numpy-round-trip", code, left=left, way=way)
    assert pasted(finding) == new
    assert "constant" in finding.why + finding.avoid


@pytest.mark.parametrize(
    ("left", "code", "fix"),
    [
        (".numpy()", "x = tf.constant(q(s).numpy())", "keep it a tensor all the way to the loss: `tf.stack"),
        ("np.concatenate", "x = np.concatenate([a, b])", "stay in TensorFlow: `tf.concat` on the tensor"),
        ("np.sum", "x = np.sum(a, dtype='f4')", "stay in TensorFlow: `tf.reduce_sum` on the tensor"),
        (".numpy()", "losses.append(l.numpy())", "write `losses.append(l)` and collect with `tf.stack(...)`"),
    ],
)
def test_numbers_are_not_rewritten_where_it_would_be_wrong(on_tape, left, code, fix):
    assert on_tape("numpy-round-trip", code, left=left).fix.startswith(fix)


def test_predict_is_named_as_it_is_written(on_tape):
    finding = on_tape("numpy-round-trip", "q = self.online.predict(s)", left="model.predict", way="predict")
    assert finding.title == "actor gets no gradient: it goes through self.online.predict"
    unread = on_tape("numpy-round-trip", left="model.predict", way="predict")
    assert unread.fix == "call the model, `model(x)`, not `model.predict(x)`"


def test_outside_tape_moves_the_line(on_tape):
    tape = Site("/home/me/train.py", 44)
    before = on_tape("outside-tape", "a = actor(s)", kind="before", tape=tape)
    assert before.fix == (
        "move `a = actor(s)` into the `with tf.GradientTape()` block (line 44), or open the block before it"
    )
    after = on_tape("outside-tape", "loss = mse(y, q)", kind="after", tape=tape)
    assert after.fix.endswith("(line 44); `tape.gradient` stays after it")
    paused = on_tape("outside-tape", "a = actor(s)", kind="paused", tape=tape)
    assert paused.fix == "move `a = actor(s)` out of the `with tape.stop_recording():` block"


def test_outside_tape_asked_twice(on_tape):
    finding = on_tape("outside-tape", "g = tape.gradient(loss, v)", kind="asked-twice")
    assert pasted(finding) == "with tf.GradientTape(persistent=True) as tape:"
    assert "None" not in finding.avoid


def test_outside_tape_unwatched(on_tape):
    action = (Parameter(-1, "action", "action"),)
    tensor = on_tape("outside-tape", "return tape.gradient(q, action)", action, kind="unwatched")
    assert tensor.fix == "write `tape.watch(action)` as the first line of the `with tf.GradientTape()` block"
    code = "with tf.GradientTape(watch_accessed_variables=False) as tape:"
    variable = on_tape("outside-tape", code, action, kind="unwatched", tape=Site("/home/me/train.py", 3))
    assert pasted(variable) == "with tf.GradientTape() as tape:"


@pytest.mark.parametrize("kind", ["never-called", "unused", "other-network", "constant"])
def test_loss_independent(on_tape, kind):
    finding = on_tape("loss-independent", "return -tf.reduce_mean(adv)", kind=kind, instead=("critic",))
    assert finding.title.startswith("actor gets no gradient: ")
    assert "return" not in finding.why
    assert "unconnected_gradients" in finding.avoid


def test_loss_independent_swaps_twins_only(on_tape, parameters):
    code = "loss = tf.reduce_mean(tf.square(y - target(s)))"
    twin = on_tape(
        "loss-independent", code, parameters("online", LAYERS), kind="other-network", instead=("target",)
    )
    assert pasted(twin) == "loss = tf.reduce_mean(tf.square(y - online(s)))"
    other = on_tape("loss-independent", "loss = -f(critic(s, a))", kind="other-network", instead=("critic",))
    assert other.fix.startswith(
        "put what actor computes into `loss`, e.g. as the action that goes into critic"
    )


def test_not_in_optimizer_adds_to_the_list(on_tape, parameters):
    asked = Site("/home/me/train.py", 26, "update", "grads = tape.gradient(loss, variables)")
    fields = {"selective": True, "asked": asked, "holds": ("head",)}
    finding = on_tape("not-in-optimizer", asked.code, parameters("trunk", LAYERS), **fields)
    assert finding.title == "trunk never changes: not among the variables that are asked for"
    assert "`tape.gradient` (line 26) is asked for the variables of head" in finding.why
    assert "`variables + trunk.trainable_variables`" in finding.fix
    alone = on_tape("not-in-optimizer", asked.code, (Parameter(0, "log_std", "log_std"),), **fields)
    assert "`variables + [log_std]`" in alone.fix


@pytest.mark.parametrize(
    ("how", "code", "fix"),
    [
        (
            "attribute",
            'self.log_std = tf.Variable(tf.zeros(2), name="log_std")',
            'write `self.log_std = keras.Variable(tf.zeros(2), name="log_std")` (or use `self.add_weight`)',
        ),
        ("attribute", "self.s = tf.Variable(x, shape=(2,))", "make it with `self.add_weight(...)`"),
        ("plain object", "self.torso = Torso(32)", "make that class a `keras.layers.Layer`"),
        ("lone layer", "extra = Dense(1)", "make it an attribute of the model that uses it"),
        (
            "made in call",
            "h = h + layers.Dense(8)(x)",
            "make it once, in `__init__`: `self.dense = layers.Dense(8)`; and write `h = h + self.dense(x)` here",
        ),
        ("made in call", "h = f(x)", "make the layer once, in `__init__`"),
        ("", "", "assign the layer in `__init__`"),
    ],
)
def test_not_tracked(on_tape, parameters, how, code, fix):
    finding = on_tape(
        "not-tracked", code, parameters("pi", ("log_std",)), how=how, holder="pi", whole=frozenset()
    )
    assert finding.fix.startswith(fix)


def test_frozen(on_tape):
    code = 'log_alpha = tf.Variable(0.0, trainable=False, name="log_alpha")'
    born = on_tape("frozen", code, (Parameter(0, "log_alpha", "log_alpha"),))
    assert pasted(born) == 'log_alpha = tf.Variable(0.0, name="log_alpha")'
    put = on_tape("frozen", "self.q.trainable = False", (Parameter(0, "agent.q.dense.kernel", "agent.q"),))
    assert put.title == "agent.q gets no gradient: frozen by trainable = False"
    assert put.fix.startswith(
        "switch gradients on again before `compile` and before the first training step: "
        "`self.q.trainable = True`; or, if"
    )


def test_no_step_writes_the_call(on_tape):
    code = "grads = tape.gradient(loss, critic.trainable_variables)"
    never = on_tape("no-step", code, asked=True, optimizer="critic_opt")
    assert never.fix == "add `critic_opt.apply_gradients(zip(grads, critic.trainable_variables))` after it"
    zero = on_tape("no-step", "opt = Adam(rate)", rate_zero=True, optimizer="opt")
    assert zero.fix.startswith("give `learning_rate` a value above 0 (`print(float(opt.learning_rate))`")


def test_stale_optimizer(on_tape):
    finding = on_tape("stale-optimizer", "actor.head = Dense(2)", optimizer="opt")
    assert finding.title == "actor never changes: opt still holds the old variables"
    assert finding.fix.startswith(
        "after this line, read `actor.trainable_variables` again and make a new optimizer"
    )


@pytest.mark.parametrize(
    ("code", "name", "fix"),
    [
        ("forward = tf.function(q)", "forward", "write `forward = tf.function(q)` again after actor"),
        ("def train(obs):", "train", "make `train` anew after actor has been replaced"),
        ("loss = self.train_step(obs)", "self.train_step", "make `self.train_step` anew"),
        ("", "the compiled function", "make the compiled function anew"),
    ],
)
def test_stale_closure_names_the_function(on_tape, code, name, fix):
    finding = on_tape("stale-closure", code)
    assert finding.title == f"actor gets no gradient: {name} still runs the network that it captured"
    assert finding.fix.startswith(fix)


def test_wrong_variables(on_tape, parameters):
    asks = on_tape(
        "wrong-variables",
        "grads = tape.gradient(loss, critic.trainable_variables)",
        kind="paired",
        others=("critic",),
        meant=("actor",),
    )
    assert asks.title == "actor is moved by the gradients of critic, not by its own"
    assert pasted(asks) == "grads = tape.gradient(loss, actor.trainable_variables)"
    applies = on_tape(
        "wrong-variables",
        "opt.apply_gradients(zip(grads, target.trainable_variables))",
        parameters("online", LAYERS),
        kind="applied",
        others=("target",),
        meant=("online",),
    )
    assert applies.title == "online never changes: the gradients are applied to target"
    assert pasted(applies) == "opt.apply_gradients(zip(grads, online.trainable_variables))"


def test_parts_of_a_keras_network_are_named(parameters):
    two = parameters("model", ("torso.kernel", "torso.bias", "policy.kernel"))
    assert str(words.who(Detached(subjects=two, dialect=TENSORFLOW))) == (
        "model.torso and model.policy.kernel"
    )
    assert words.layers([p.name for p in two]) == ("model.torso", "model.policy")
    assert words.layers(["m.norm.gamma", "m.norm.beta", "agent.beta"]) == ("m.norm", "agent.beta")


def test_variables_are_written_as_attributes(parameters):
    unnamed = parameters("net", ("body.dense_1.kernel", "body.dense_1.bias"))
    assert words.variables(Detached(subjects=unnamed, dialect=TENSORFLOW)) == "net.body.trainable_variables"
    alone = parameters("agent", ("log_std",))
    assert words.variables(Detached(subjects=alone), "self.f(x)") == "[self.log_std]"


@pytest.mark.parametrize("how", ["tanh", "sigmoid"])
def test_a_saturated_output_is_started_small(on_tape, how):
    fix = on_tape("zero-gradient", how=how).fix
    assert "small weights (between -3e-3 and 3e-3)" in fix and "uniform_" not in fix
