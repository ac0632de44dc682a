"""How people speak of PyTorch."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from whygrad.rules import rewrite
from whygrad.rules.dialects.dialect import Dialect

# No reductions: numpy takes lists of tensors there, and torch does not.
_FUNCTIONS = {
    "clip": "torch.clamp",
    "square": "torch.square",
    "abs": "torch.abs",
    "exp": "torch.exp",
    "log": "torch.log",
    "sqrt": "torch.sqrt",
    "tanh": "torch.tanh",
    "where": "torch.where",
    "stack": "torch.stack",
    "array": "torch.stack",
    "concatenate": "torch.cat",
    "expand_dims": "torch.unsqueeze",
    "squeeze": "torch.squeeze",
    "reshape": "torch.reshape",
}
_SPOKEN = {
    "detach": ".detach()",
    "detach_": ".detach_()",
    "data": ".data",
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "__array__": "numpy",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "long": ".long()",
    "int": ".int()",
    "bool": ".bool()",
}


def _spoken(operation: str, line: str) -> str:
    special = operation.startswith("__")
    return _SPOKEN.get(operation, operation.strip("_") if special else operation)


def _titled(operation: str, line: str) -> str:
    return operation if operation.endswith(")") or " " in operation else f"{operation}()"


def _maker(operation: str, line: str) -> str:
    return "" if operation == "data" else f"torch.{operation}"  # plain numbers that nobody converted


def _stopped(value: str) -> str:
    return f"{rewrite.bracketed(value)}.detach()"


def _let_through(code: str, cut: str) -> str | None:
    return (
        rewrite.without_attribute(code, "data") if cut == ".data" else rewrite.without_calls(code, "detach")
    )


def _pretended(code: str) -> tuple[str, str]:
    if re.search(r"[,(]\s*requires_grad\s*=\s*True", code):
        maker = re.search(r"([\w.]*(?:tensor|Tensor|Variable|Parameter))\(", code)
        return f"{maker[1] if maker else ''}(..., requires_grad=True)", "leave `requires_grad=True` out"
    return (code if code and len(code) <= 48 else "requires_grad = True"), "delete this line"


def _extended(asked: str, networks: Sequence[str], alone: Sequence[str]) -> str:
    return f"[{', '.join([asked, *(f'*{name}.parameters()' for name in networks), *alone])}]"


_UNLISTED = {
    "plain list": "A module does not look into plain Python lists.",
    "plain dict": "A module does not look into plain Python dicts.",
    "attribute": "A module lists `nn.Parameter` and `nn.Module` attributes; a plain tensor is neither.",
    "plain object": "A module looks for parameters in its own attributes that are modules, not inside of "
    "objects of a plain class.",
    "non-leaf": "A call on `nn.Parameter(...)`, such as `.float()` or `.to(device)`, returns an ordinary "
    "tensor; that one is what the module got.",
}


def _registered(how: str, code: str) -> str:
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
    elif how == "plain object":
        general = "let the class that holds it inherit from `nn.Module`, and call `super().__init__()` first"
    elif how == "outside the module":
        general = "assign it to an attribute in `__init__`: `self.layer = layer`"
    return f"write `{new}`" if new else general


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


TORCH = Dialect(
    framework="torch",
    title="PyTorch",
    drawn="`sample()` instead of `rsample()`",
    surrogate="`-(dist.log_prob(action) * returns).mean()`",
    squeezed=lambda column: f"{column}.squeeze(-1)",
    differentiate="backward",
    ask="autograd.grad",
    step="step()",
    rate="lr",
    rate_of=lambda optimizer: f"{optimizer}.param_groups[0]['lr']",
    applied=lambda optimizer, gradients, of: (
        f"`for p, g in zip({of}, {gradients}): p.grad = g` after it, before `{optimizer}.step()`"
    ),
    clip_by_norm="clip_grad_norm_",
    apply_clipped="clip in place, `p.grad.clamp_(-1, 1)` or `nn.utils.clip_grad_value_(...)`, or put the "
    "result back: `p.grad = clipped`",
    parameters="parameters",
    eagerly="set `TORCH_COMPILE_DISABLE=1`",
    forward="forward",
    modes_switched=True,
    to_train=lambda name: f"call `{name}.train()` before the forward pass of the update",
    to_evaluate=lambda name: f"call `{name}.eval()`",
    stop=".detach()",
    stopped=_stopped,
    let_through=_let_through,
    pretended=_pretended,
    constant="compute it under `with torch.no_grad():`",
    hiding="`loss.requires_grad = True`: the error goes, the gradient does not come back",
    hiding_unused="`find_unused_parameters=True` or `allow_unused=True`: the message goes, nothing is learnt",
    namespace="torch",
    functions=_FUNCTIONS,
    spoken=_spoken,
    titled=_titled,
    maker=_maker,
    rewrapped="`torch.tensor(..., requires_grad=True)`: the error goes away, and `backward` ends at the new "
    "tensor",
    to_float=".float()",
    custom_gradient="torch.autograd.Function",
    draws_with_gradient="rsample",
    relaxed="`F.gumbel_softmax(logits, hard=True)`",
    axis="dim",
    picked="`q.gather(1, a)` with the action that was taken",
    frozen="requires_grad = False",
    thawed=lambda name: f"{name}.requires_grad_(True)",
    listed=lambda name: f"{name}.parameters()",
    copied=lambda target, online: f"{target}.load_state_dict({online}.state_dict())",
    cloned=lambda name: f"`copy.deepcopy({name})`",
    shallow="`copy.copy`: a shallow copy has the same parameters",
    thawed_before="before the update",
    left_out=lambda it, optimizer: f"take {it} out of {optimizer}",
    extended=_extended,
    unmade="a module lists the layers that are its attributes, and there were none yet when the list was "
    "taken",
    made_first="make the layers in `__init__`, as attributes of the module, and the optimizer after them",
    unlisted=_UNLISTED,
    registered=_registered,
    saving="`state_dict()` and `.to(device)`",
    remade=lambda optimizer, network: f"make {optimizer} after this line, from the new parameters",
    reused="`optimizer.load_state_dict(...)`: it restores moments, not which parameters are held",
)
