"""not-tracked: used in the forward pass, but its module does not list it."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="not-tracked",
    family="missing",
    summary="used in the forward pass, but not among `parameters()`: a plain list, dict or tensor attribute",
    what="A layer or a parameter is used in the forward pass, but its module does not list it: it sits in a "
    "plain Python list or dict, it is a plain tensor attribute, it was made outside of the module, or "
    "`nn.Parameter(...).to(device)` turned it into an ordinary tensor. In Keras: a `tf.Variable` "
    "attribute, a layer inside of a plain object, a layer that is made in `call`.",
    why="`model.parameters()` leaves it out, so no optimizer gets it. It keeps its first random value, "
    "stays behind at `.to(device)`, and is missing from `state_dict()`.",
    bad="""\
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 64), nn.Linear(64, 2)]
        self.log_std = nn.Parameter(torch.zeros(2)).float()""",
    good="""\
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 64), nn.Linear(64, 2)])
        self.log_std = nn.Parameter(torch.zeros(2).float())""",
    use_instead="`nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList` for containers; `nn.Parameter(...)` as "
    "the outermost call for a single value, with casts and `.to(device)` inside of it. In Keras: "
    "`self.add_weight(...)`, and layers as attributes of the model, made in `__init__`.",
    avoid="Adding it to the optimizer by hand: `state_dict()` and `.to(device)` still miss it.",
    site="where it was created",
    bad_tensorflow="""\
class Policy(keras.Model):
    def __init__(self):
        super().__init__()
        self.mu = keras.layers.Dense(2)
        self.log_std = tf.Variable(tf.zeros(2))""",
    good_tensorflow="""\
class Policy(keras.Model):
    def __init__(self):
        super().__init__()
        self.mu = keras.layers.Dense(2)
        self.log_std = self.add_weight(shape=(2,), initializer="zeros")""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTracked(Cause):
    """No module lists it among its parameters."""

    rule: ClassVar[str] = PAGE.slug
    holder: str = ""  # the module that uses it
    how: str = ""  # how it is held there, as in ``Parameter.untracked_how``
    asked: Site | None = None  # the line that found the list of parameters empty


def phrase(cause: NotTracked) -> Finding:
    """Put an unregistered layer or parameter into words."""
    if cause.how == "made in call":
        return _made_in_call(cause)
    if cause.how == "lone layer":
        return _beside_the_models(cause)
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} used, but not among {cause.dialect.listed(cause.holder)}"
        if cause.holder
        else f"{who.does('is', 'are')} used, but no module lists {who.it} among its "
        f"{cause.dialect.parameters}",
        why=f"{_why(cause)} {_never_changes(cause)}",
        fix=cause.dialect.registered(cause.how, words.source(cause)),
        avoid=f"adding it by hand to what is trained: {cause.dialect.saving} still miss it",
    )


def _why(cause: NotTracked) -> str:
    holder = cause.holder or "its module"
    if cause.how == "outside the module":
        return f"It was made outside of {holder} and never became an attribute of it."
    general = f"{holder} does not know that this is one of its own {cause.dialect.parameters}."
    return cause.dialect.unlisted.get(cause.how, general[0].upper() + general[1:])


def _never_changes(cause: NotTracked) -> str:
    who = words.who(cause)
    if cause.asked is not None:
        empty = words.near(cause.asked, cause.site)
        return f"So the list of {cause.dialect.parameters}{empty} is empty, and nothing can be trained."
    never = "never change" if who.several else "never changes"
    return f"So no optimizer gets {who.it}, and {who.they} {never}."


def _beside_the_models(cause: NotTracked) -> Finding:
    who, here = words.who(cause), cause.dialect
    longer = here.extended("...", *words.parts(cause, words.source(cause)))
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} used, but {who.they} {'belong' if who.several else 'belongs'} to no "
        f"model whose {here.parameters} are trained",
        why=f"{who.does('stands', 'stand')} beside the models: none of them lists {who.it}. "
        f"{_never_changes(cause)}",
        fix=f"make {who.it} an attribute of the model that uses {who.it}, in `__init__`; or train {who.it} "
        f"as well: `{longer}`",
    )


def _made_in_call(cause: NotTracked) -> Finding:
    layer, line = rewrite.maker_in(words.source(cause))
    name = f"self.{_attribute(layer)}"
    here = words.code(line.replace("{}", name), words.LONG)
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} new random weights in every forward pass",
        why=f"A layer that is made in `{cause.dialect.forward}` is a new one each time: no model lists it, "
        "nothing trains it.",
        fix=f"make it once, in `__init__`: `{name} = {layer}`; and write {here} here"
        if layer
        else "make the layer once, in `__init__`, as an attribute of the model, and call it here",
    )


def _attribute(layer: str) -> str:
    """A name for a layer that has none: ``dense`` for ``keras.layers.Dense(8)``."""
    kind = layer.partition("(")[0].rpartition(".")[2]
    return kind.lower() if kind.isidentifier() else "layer"


RULE = Rule(PAGE, phrase, NotTracked)
