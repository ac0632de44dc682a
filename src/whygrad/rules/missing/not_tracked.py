"""not-tracked: used in the forward pass, but not among ``parameters()``.

Reads the details ``holder`` (the module that uses it) and ``how`` (``plain list``, ``plain dict``,
``attribute``, ``outside the module``, ``non-leaf``).
"""

import ast

from whygrad.model import Finding
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


def phrase(cause: Cause) -> Finding:
    """Put an unregistered layer or parameter into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    who = words.who(cause)
    holder = cause.details.get("holder") or "its module"
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} used, but not among {holder}.parameters()"
        if cause.details.get("holder")
        else f"{who.does('is', 'are')} used, but no module lists {who.it} among its parameters",
        why=f"{_why(cause.details.get('how', ''), holder)} So no optimizer gets {who.it}, and {who.they} "
        f"never {'change' if who.several else 'changes'}.",
        fix=_fix(cause.details.get("how", ""), words.source(cause)),
        avoid="adding it to the optimizer by hand: `state_dict()` and `.to(device)` still miss it",
    )


def _why(how: str, holder: str) -> str:
    reasons = {
        "plain list": "A module does not look into plain Python lists.",
        "plain dict": "A module does not look into plain Python dicts.",
        "attribute": "A module lists `nn.Parameter` and `nn.Module` attributes; a plain tensor is neither.",
        "outside the module": f"It was made outside of {holder} and never became an attribute of it.",
        "non-leaf": "A call on `nn.Parameter(...)`, such as `.float()` or `.to(device)`, returns an ordinary "
        "tensor; that one is what the module got.",
    }
    return reasons.get(how, f"{holder} does not know that this is a parameter of its own.")


def _fix(how: str, code: str) -> str:
    new, general = None, "assign it in `__init__` as an `nn.Parameter` or `nn.Module` attribute"
    if how in ("plain list", "plain dict"):
        new = rewrite.wrapped_value(code, _container)
        general = f"put it into `nn.{'ModuleList' if how == 'plain list' else 'ModuleDict'}(...)`"
    elif how == "non-leaf":
        new = rewrite.moved_inside(code, "Parameter")
        general = "make `nn.Parameter(...)` the outermost call: `nn.Parameter(x.float())`"
    elif how == "attribute":
        new = rewrite.wrapped_value(code, _plain_tensor)
        general = "wrap it: `self.x = nn.Parameter(x)`"
    elif how == "outside the module":
        general = "assign it to an attribute in `__init__`: `self.layer = layer`"
    return f"write {words.code(new)}" if new else general


def _container(value: ast.expr) -> str:
    parameters = "Parameter(" in ast.unparse(value)
    if isinstance(value, ast.List | ast.ListComp | ast.Tuple):
        return "nn.ParameterList" if parameters else "nn.ModuleList"
    if isinstance(value, ast.Dict | ast.DictComp):
        return "nn.ParameterDict" if parameters else "nn.ModuleDict"
    return ""


def _plain_tensor(value: ast.expr) -> str:
    made = ast.unparse(value)
    return "nn.Parameter" if made.startswith("torch.") and "requires_grad" not in made else ""


def _on_tensorflow(cause: Cause) -> Finding:
    who, how, code = words.who(cause), cause.details.get("how", ""), words.source(cause)
    holder = cause.details.get("holder") or "the model"
    if how == "made in call":
        return _made_in_call(cause, code)
    short, why, fix = _tape_words(cause, how, code, holder)
    never = f"never {'change' if who.several else 'changes'}"
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} used, but {short}",
        why=f"{why} So `tape.gradient` is not asked for {who.it}, and {who.they} {never}.",
        fix=fix,
        avoid="adding it to the list of variables by hand: `get_weights` and `save_weights` still miss it"
        if how != "lone layer"
        else "",
    )


def _tape_words(cause: Cause, how: str, code: str, holder: str) -> tuple[str, str, str]:
    """The end of the title, why, and what to write."""
    who = words.who(cause)
    if how == "lone layer":
        listed = words.variables(cause, code)
        return (
            "it belongs to no model whose variables are trained",
            f"{who} stands beside the models: nobody's `trainable_variables` has {who.it}.",
            f"make {who.it} an attribute of the model that uses {who.it}, in `__init__`; or add `{listed}` "
            "to the list for `tape.gradient` and `apply_gradients`",
        )
    short = f"not among {holder}.trainable_variables"
    if how == "attribute":
        new = rewrite.renamed_call(code, "tf.Variable", "keras.Variable", ("name", "dtype", "trainable"))
        wrap = "make it with `self.add_weight(...)` or as a `keras.Variable`"
        return (
            short,
            "Keras 3 lists layers and Keras variables; a `tf.Variable` attribute is neither.",
            f"write {words.code(new, words.LONG)} (or use `self.add_weight`)" if new else wrap,
        )
    if how == "plain object":
        return (
            short,
            "Keras looks for layers in attributes, lists and dicts, not inside of objects of a plain class.",
            "make that class a `keras.layers.Layer` (with `super().__init__()` and `call`), or use "
            "`keras.Sequential([...])` in its place",
        )
    return (
        short,
        f"{holder} does not know that this is a variable of its own.",
        "assign the layer in `__init__`, as an attribute: `self.layer = layer`",
    )


def _made_in_call(cause: Cause, code: str) -> Finding:
    layer, line = rewrite.maker_in(code)
    name = f"self.{_attribute(layer)}"
    here = words.code(line.replace("{}", name), words.LONG)
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} new random weights in every forward pass",
        why="A layer that is made in `call` is a new one each time: no model lists it, nothing trains it.",
        fix=f"make it once, in `__init__`: `{name} = {layer}`; and write {here} here"
        if layer
        else "make the layer once, in `__init__`, as an attribute of the model, and call it here",
    )


def _attribute(layer: str) -> str:
    """A name for a layer that has none: ``dense`` for ``keras.layers.Dense(8)``."""
    kind = layer.partition("(")[0].rpartition(".")[2]
    return kind.lower() if kind.isidentifier() else "layer"


RULE = Rule(PAGE, phrase)
