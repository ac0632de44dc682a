"""optimizer-recreated: each update makes an optimizer of its own, which has nothing to remember."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from whygrad.flow.situation import Situation
from whygrad.model import Finding, Mark, Optimizer, Severity, Site, Step
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="optimizer-recreated",
    family="wrong",
    summary="an optimizer with moments is made anew for nearly every update, and has none",
    what="Adam, RMSprop, SGD with momentum or another optimizer that remembers gradients is made in the "
    "training loop, or in the function that does one update.",
    why="Its moments begin at zero and are thrown away after one step or two. Momentum never builds up; the "
    "first step of Adam moves every weight by the whole learning rate, however small its gradient is. "
    "Nothing fails, and the loss may even fall for a while.",
    bad="""\
def update(batch):
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    loss = policy_loss(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()""",
    good="""\
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)


def update(batch):
    loss = policy_loss(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()""",
    use_instead="Make the optimizer once, after the network, and hand it to the function that updates. To "
    "change the learning rate, set `group['lr']` for each of `optimizer.param_groups`, or use a scheduler.",
    avoid="Another learning rate: the steps get smaller or larger, and the moments are still lost.",
    site="where the optimizer is made; in JAX, where its new state is thrown away",
    bad_jax="""\
updates, _ = tx.update(grads, opt_state)  # Adam is at its first step for ever
params = optax.apply_updates(params, updates)""",
    good_jax="""\
updates, opt_state = tx.update(grads, opt_state)
params = optax.apply_updates(params, updates)""",
)

_OFTEN = 5  # optimizers of one line, after which it is no restart any more
_FEW = 2  # steps for each of them, on the average


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerRecreated(Cause):
    """A line that makes an optimizer for nearly every update."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    kind: str = ""  # of the optimizers: Adam
    refused: bool = False  # in a compiled function, where the second one is an error
    forgot: bool = False  # it gives its new state to its caller, who does not keep it


def recreated(situation: Situation) -> Iterator[OptimizerRecreated]:
    """Lines that make one optimizer after another for the same parameters."""
    for made in _together(situation):
        often = len(made) >= _OFTEN and _steps(situation, made[0].held) <= _FEW * len(made)
        if often and not _set_back(situation, made[0]):
            yield _recreated(situation, made)
    for optimizer in situation.evidence.optimizers.values():
        updates = situation.updates(optimizer)
        gone = [u for u in updates if u.forgot is not None]
        if gone:
            yield _forgetful(situation, optimizer, gone[-1].forgot)


def _together(situation: Situation) -> list[list[Optimizer]]:
    """The optimizers that remember, by line, kind, and what they hold."""
    found: dict[object, list[Optimizer]] = {}
    for optimizer in situation.evidence.optimizers.values():
        if optimizer.remembers and optimizer.steps and optimizer.made is not None:
            found.setdefault((optimizer.made, optimizer.kind, optimizer.held), []).append(optimizer)
    return list(found.values())


def _steps(situation: Situation, held: frozenset[int]) -> int:
    """How often any of these parameters was stepped, by whichever optimizer."""
    return sum(o.steps for o in situation.evidence.optimizers.values() if o.held & held)


def _set_back(situation: Situation, optimizer: Optimizer) -> bool:
    """Were its parameters loaded? Then each optimizer may begin a task of its own, from there."""
    return any(p.loaded for p in situation.parameters(optimizer.held))


def _recreated(situation: Situation, made: list[Optimizer]) -> OptimizerRecreated:
    last, here = made[-1], dialect_of(situation.evidence.framework)
    updates = situation.updates(last)
    return OptimizerRecreated(
        site=last.made,
        subjects=situation.parameters(last.held),
        chain=(
            Step.at(last.made, last.kind, mark=Mark.HERE),
            Step.at(updates[-1].site if updates else None, here.step),
            Step("its moments are thrown away"),
        ),
        severity=Severity.WARNING,
        optimizer=made[0].name,
        first_update=1,
        updates=sum(o.steps for o in made),
        kind=last.kind,
    )


def _forgetful(situation: Situation, optimizer: Optimizer, site: Site | None) -> OptimizerRecreated:
    return OptimizerRecreated(
        site=site,
        subjects=situation.parameters(optimizer.held),
        chain=(
            Step(optimizer.name or "the optimizer", optimizer.made),
            Step("gives its new state", site, mark=Mark.HERE),
            Step("which is thrown away", site, mark=Mark.LOST),
        ),
        severity=Severity.WARNING,
        optimizer=optimizer.name,
        first_update=1,
        updates=optimizer.steps,
        forgot=True,
    )


def phrase(cause: OptimizerRecreated) -> Finding:
    """Put optimizers that have no time to remember into words."""
    if cause.refused:
        return _refused(cause)
    if cause.forgot:
        return _forgotten(cause)
    who, kind, code = words.who(cause), cause.kind or "optimizer", words.source(cause)
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} stepped by a new {kind} in nearly every update: its moments are lost",
        why=f"{words.code(code) if code else 'This line'} runs again and again, and what the one before had "
        f"gathered is thrown away: each {kind} steps as if it were the first time.",
        fix=f"make it once: move the line {_out(cause)}",
        avoid="another learning rate: the moments are still lost",
    )


def _refused(cause: OptimizerRecreated) -> Finding:
    kind, code = cause.kind or "optimizer", words.source(cause)
    return words.say(
        cause,
        title=f"a compiled function makes a new {kind} each time it runs",
        why=f"{words.code(code) if code else 'This line'} makes {kind}'s variables anew in every call. "
        "Compiled "
        "code cannot, and stops; eager code would go on, and lose its moments in each update.",
        fix=f"make it once: move the line {_out(cause)}",
        avoid="`tf.config.run_functions_eagerly(True)`: the error goes, the moments are still lost",
    )


def _forgotten(cause: OptimizerRecreated) -> Finding:
    who, by, code = words.who(cause), cause.optimizer or "tx", words.source(cause)
    call = f"`{by}.update`"
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} stepped with the first state of {by} in every update: its moments "
        "are lost",
        why=f"{words.code(code) if code else call} gives a new state beside the rest, and nobody keeps it: "
        "the parameters go on, and each update begins with the moments of the first one.",
        fix=f"keep the new state that {call} gives (`updates, opt_state = {by}.update(grads, opt_state)`), "
        "return it with the new parameters, and go on with both",
        avoid="another learning rate: the moments are still lost",
    )


def _out(cause: OptimizerRecreated) -> str:
    function = cause.site.function if cause.site else ""
    inside = function and not function.startswith("<")
    made = words.who(cause).does("is made", "are made") if cause.subjects else "the networks are made"
    return f"out of `{function}`, to where {made}" if inside else "above the loop"


RULE = Rule(PAGE, phrase, OptimizerRecreated, asks=recreated)
