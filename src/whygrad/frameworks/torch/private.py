"""Everything of torch that is not public, looked up once, and what happens where it is gone.

What is gone and blinds us is said in the report; what only makes us slower or more careful is not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from importlib import import_module
from math import inf
from operator import attrgetter
from types import CodeType
from typing import Any

import torch
from torch import Tensor


def _find(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


def _nothing(*_: Any) -> None:
    return None


def _none(*_: Any) -> int:
    return 0


def _own(name: str, missing: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    """An attribute of tensors."""
    return attrgetter(name) if hasattr(Tensor, name) else missing


_depth = _find("torch._C", "_len_torch_function_stack")
_at = _find("torch._C", "_get_function_stack_at")
_dispatched = _find("torch._C", "_len_torch_dispatch_stack")
_dispatch_at = _find("torch._C", "_get_dispatch_stack_at")
_norms = _find("torch", "_foreach_norm")
_is_wrapped = _find("torch._C._functorch", "is_functorch_wrapped_tensor")
_inner = _find("torch._C._functorch", "get_unwrapped")
_pop = _find("torch.overrides", "_pop_mode")
_push = _find("torch.overrides", "_push_mode")

#: A block in which no function mode and no tensor class is told of what we ask. Gone: they are told, we too.
unheard: Any = _find("torch._C", "DisableTorchFunction") or nullcontext
#: The function mode on top. Gone: ours is never left before the end, and steps are slower.
current_mode: Callable[[], Any] = _find("torch.overrides", "_get_current_function_mode") or _nothing
#: A default device, which is a mode as well. Gone: under one, nothing is recorded.
DEVICE: Any = _find("torch.utils._device", "DeviceContext") or ()

#: Is ``jit.trace`` at work? Gone: our questions may become part of what it traces.
tracing_state: Callable[[], Any] = _find("torch._C", "_get_tracing_state") or _nothing
#: Is ``vmap`` or ``func.grad`` at work? Gone: not known, and their operations are recorded as they come.
transform: Callable[[], Any] = _find("torch._C._functorch", "peek_interpreter_stack") or _nothing
#: How many dispatch modes there are. Gone: none.
dispatch_depth: Callable[[], int] = (_dispatched if _dispatch_at is not None else None) or _none
#: A block in which they are not told. Gone: they are.
undispatched: Any = _find("torch.utils._python_dispatch", "_disable_current_modes") or nullcontext

#: Who compiles what runs in this thread, and to set that. Gone: nobody, and our functions may be compiled.
compiler: Callable[[], Any] = _find("torch._C._dynamo.eval_frame", "get_eval_frame_callback") or _nothing
set_compiler: Callable[[Any], Any] = _find("torch._C._dynamo.eval_frame", "set_eval_frame") or _nothing

#: How often a tensor was written to. Gone: never, and what a failed backward misses is not named.
version: Callable[[Tensor], int] = _own("_version", _none)
#: The tensor that this one is a view of. Gone: views are values of their own.
base: Callable[[Tensor], Any] = _own("_base", _nothing)
#: Hooks that somebody has put on a tensor. Gone: nobody, so that shares might run them twice.
hooks: Callable[[Tensor], Any] = _own("_backward_hooks", _nothing)
#: The class of all tensors in C, whose methods nobody can replace.
TENSOR: Any = Tensor.__mro__[1]

_NEEDED = {"what else listens to torch": _depth and _at, "what happens inside of transforms": dispatch_depth}


def leave_untraced(package: str, forwards: CodeType) -> None:
    """Tell the compiler to run our functions as they are where it meets one. Gone: it compiles them, too.

    What stands in the folders of the package is not read; what ``forwards`` makes may be read, but is not
    compiled where it is called by itself.
    """
    add, known = (_find("torch._dynamo.trace_rules", name) for name in ("add", "SKIP_DIRS"))
    for name in os.listdir(package) if add is not None else ():
        folder = os.path.join(package, name)
        listed = any(path.rstrip(os.sep) == folder for path in known or ())
        if os.path.isfile(os.path.join(folder, "__init__.py")) and not listed:
            add(f"{os.path.basename(package)}.{name}")
    skip = _find("torch._dynamo.eval_frame", "skip_code")
    for code in forwards.co_consts if skip is not None else ():
        if isinstance(code, CodeType):
            skip(code)


def present(function: Any, original: Any) -> None:
    """Where the compiler meets ``function``, it takes it for ``original``. Gone: it reads ours."""
    function._torchdynamo_inline = original


def compiled_context() -> Any:
    """What a compiled function is called through. Gone: nothing is recorded any more once there is one."""
    found = _find("torch._dynamo.eval_frame", "OptimizeContext")
    return found if found is not None and "__init__" in vars(found) else None


def tell(context: Any, entered: Callable[[], Callable[[], None]]) -> None:
    """Be called when its function is called, and call the result when that is over."""
    context.enter_exit_hooks.append(entered)


def has_compiled() -> bool:
    """Has the compiler been at work already? Then it knows torch as it was."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return bool(getattr(dynamo, "counters", {}).get("frames"))


def take_out(mode: Any) -> list[Any] | None:
    """Take a function mode out from under those that were entered after it; those. Not there: nothing."""
    above = list(function_modes())
    if _pop is None or _push is None or mode not in above:
        return None
    above = above[above.index(mode) + 1 :]
    for _ in (mode, *above):
        _pop()
    for other in above:
        _push(other)
    return above


def put_back(mode: Any, above: list[Any]) -> bool:
    """The same backwards, if they are still the ones on top."""
    now = list(function_modes())
    if _pop is None or _push is None or (above and now[-len(above) :] != above):
        return False
    for _ in above:
        _pop()
    for other in (mode, *above):
        _push(other)
    return True


def unwrapped(tensor: Tensor) -> Tensor:
    """The tensor that a transform works on, of the one that it shows. Gone: that one."""
    for _ in range(4 if _inner is not None and _is_wrapped is not None else 0):
        if not _is_wrapped(tensor):
            break
        tensor = _inner(tensor)
    return tensor


def differentiates() -> bool:
    """Is the innermost transform one that differentiates? Not known: no."""
    found = transform()
    kind = getattr(found, "key", _nothing)() if found is not None else None
    return getattr(kind, "name", "") in ("Grad", "Jvp")


def unseen() -> list[str]:
    """What this version of torch does not let us see."""
    return [what for what, found in _NEEDED.items() if found is None or found is _none]


def function_modes() -> Iterable[Any]:
    """All function modes of this thread. Gone: none, as if nobody else listened."""
    if _depth is None or _at is None:
        return ()
    return (_at(i) for i in range(_depth()))


def dispatch_modes() -> Iterable[Any]:
    """All dispatch modes of this thread."""
    return (_dispatch_at(i) for i in range(dispatch_depth()))


def stored(tensor: Tensor) -> Tensor:
    """The numbers that a sparse tensor has, as they are."""
    values = getattr(tensor, "_values", None)
    return values() if values is not None else tensor.coalesce().values()


def largest(tensors: list[Tensor]) -> Iterable[Tensor]:
    """The largest element of each of them, in one call. Gone: in a call for each."""
    if _norms is not None:
        found: Iterable[Tensor] = _norms(tensors, inf)
        return found
    return [torch.linalg.vector_norm(tensor, inf) for tensor in tensors]
