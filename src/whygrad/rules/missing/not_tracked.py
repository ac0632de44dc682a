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
    "`nn.Parameter(...).to(device)` turned it into an ordinary tensor.",
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
    "the outermost call for a single value, with casts and `.to(device)` inside of it.",
    avoid="Adding it to the optimizer by hand: `state_dict()` and `.to(device)` still miss it.",
    site="where it was created",
)


def phrase(cause: Cause) -> Finding:
    """Put an unregistered layer or parameter into words."""
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


RULE = Rule(PAGE, phrase)
