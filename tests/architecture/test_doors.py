"""Everything that the user's program calls of ours is a door, and every door obeys the law (``whygrad.doors``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.injector import is_door, is_guard

import whygrad

ROOT = Path(whygrad.__file__).parent
FILES = sorted(
    path
    for path in ROOT.rglob("*.py")
    if path.relative_to(ROOT).parts[0] not in ("agents", "tfjs", "parity", "playing")
)

#: Calls into these hand a function of ours over to somebody else: which of its arguments?
HANDED_OVER = {
    "add_op_callback": 0,
    "atexit.register": 0,
    "os.register_at_fork": "after_in_child",
    "register_module_module_registration_hook": 0,
    "register_module_parameter_registration_hook": 0,
    "register_optimizer_step_post_hook": 0,
    "register_optimizer_step_pre_hook": 0,
    "signal.signal": 1,
    "start_new_thread": 0,
    "sys.setprofile": 0,
    "threading.Thread": "target",
    "threading.setprofile": 0,
    "weakref.ref": 1,
}
#: Methods that python or a framework calls by their name.
CALLED_BY_NAME = {
    "MetaPathFinder": {"find_spec"},
    "Loader": {"create_module", "exec_module", "__getattr__"},
    "TorchFunctionMode": {"__torch_function__"},
}
#: Calls that raise nothing of ours: they are written in C, or read what the user has given.
HARMLESS = {
    *(
        "id",
        "isinstance",
        "getattr",
        "hasattr",
        "len",
        "list",
        "sys._getframe",
        "sys.setprofile",
        "os.getpid",
    ),
    *("self._records.get", "entries.get", "known.pop", "ref", "type", "os.kill", "os._exit"),
    *("signal.signal", "self._over.is_set", "Stop"),
    "reads",  # of torch: does its compiler read this?
}
#: What the law allows to stand in a handler: the door steps aside with it.
ASIDE = ("stepped_aside", "_failed", "_lost", "lost", "_without", "stop", "_cannot", "suppress")


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


# -- the law -----------------------------------------------------------------------------------------


def broken_laws(function: ast.FunctionDef) -> list[str]:
    """What a door does outside of its guards, or the original inside of one."""
    return [text for statement in function.body for text in _broken(statement, guarded=False)]


def _broken(node: ast.AST, guarded: bool) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return
    if is_guard(node):
        body = node.body
        for child in body:
            yield from _broken(child, guarded=True)
        for handler in getattr(node, "handlers", ()):
            yield from (text for child in handler.body for text in _stepping_aside(child))
        for child in getattr(node, "finalbody", ()):
            yield from _broken(child, guarded=False)
        return
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if _is_original(name) and guarded:
            yield f"line {node.lineno}: {name} in a guard: what it raises is the user's"
        if not _is_original(name) and not guarded and name not in HARMLESS:
            yield f"line {node.lineno}: {name} outside of a guard"
    for child in ast.iter_child_nodes(node):
        yield from _broken(child, guarded)


def _stepping_aside(node: ast.AST) -> Iterator[str]:
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        name = ast.unparse(call.func)
        if name.rpartition(".")[2] not in (*ASIDE, "brief", "type") and not _is_original(name):
            yield f"line {call.lineno}: {name} in a handler"


def _is_original(name: str) -> bool:
    """The way of a door to what it stands for."""
    last = name.rpartition(".")[2]
    block = name in (
        "self._block.__enter__",
        "self._block.__exit__",
        "self._real.create_module",
        "self._real.exec_module",
    )
    return block or last in ("original", "call", "users_hook", "before", "_before", "find", "make", "fset")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_door_does_nothing_of_ours_outside_of_a_guard(path: Path):
    doors = [function for function in functions(parsed(path)) if is_door(function)]
    assert [f"{d.name}, {text}" for d in doors for text in broken_laws(d)] == []


def test_the_law_can_be_broken():
    text = "@door\ndef f(a):\n    ours(a)\n    try:\n        original(a)\n    except Exception as error:\n        more(error)\n"
    (function,) = functions(ast.parse(text))
    assert [line.partition(":")[2].strip() for line in broken_laws(function)] == [
        "ours outside of a guard",
        "original in a guard: what it raises is the user's",
        "more in a handler",
    ]


# -- who is a door -----------------------------------------------------------------------------------


def strangers(tree: ast.Module) -> list[str]:
    """Functions that are handed over to the program or its framework, and are no doors."""
    known: dict[str, list[ast.FunctionDef]] = {}
    for function in functions(tree):
        known.setdefault(function.name, []).append(function)
    found = [
        f"{name} (line {line})" for name, line in _handed_over(tree) if not _all_doors(known.get(name, []))
    ]
    found += [f"{f.name} (line {f.lineno})" for f in _called_by_name(tree) if not is_door(f)]
    for name in _makers(tree):
        for maker in known.get(name, []):
            made = [f for f in functions(maker) if f is not maker]
            inner = [
                f
                for f in made
                if any(isinstance(n, ast.Return) and _names(n, f.name) for n in ast.walk(maker))
            ]
            found += [f"{maker.name} makes {f.name}" for f in inner if not is_door(f) and not _makes(f)]
    return found


def _names(node: ast.Return, name: str) -> bool:
    return node.value is not None and any(
        isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.value)
    )


def _makes(function: ast.FunctionDef) -> bool:
    """A maker inside a maker: it is looked through itself."""
    return any(f is not function for f in functions(function))


def _all_doors(candidates: list[ast.FunctionDef]) -> bool:
    return all(map(is_door, candidates))


def _handed_over(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        name = ast.unparse(call.func)
        where = next(
            (w for known, w in HANDED_OVER.items() if name == known or name.endswith("." + known)), None
        )
        if where is None:
            continue
        given = (
            call.args[where : where + 1]
            if isinstance(where, int)
            else [k.value for k in call.keywords if k.arg == where]
        )
        for argument in given:
            if isinstance(argument, (ast.Name, ast.Attribute)):
                yield ast.unparse(argument).rpartition(".")[2], call.lineno


def _called_by_name(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for owner in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        wanted = {name for base in owner.bases for name in CALLED_BY_NAME.get(ast.unparse(base), ())}
        yield from (f for f in owner.body if isinstance(f, ast.FunctionDef) and f.name in wanted)


def _makers(tree: ast.Module) -> set[str]:
    """The methods that make what replaces a function of a framework: the last argument of ``wrap``, or a table."""
    found = set()
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        if ast.unparse(call.func).endswith(".wrap") and len(call.args) == 3:
            made = call.args[2].func if isinstance(call.args[2], ast.Call) else call.args[2]
            found.add(ast.unparse(made).rpartition(".")[2])
    for function in functions(tree):
        arguments = [a.arg for a in function.args.args]
        if arguments == ["self", "original"]:
            found.add(function.name)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_handed_over_is_a_door(path: Path):
    assert strangers(parsed(path)) == []


def test_a_stranger_is_found():
    text = (
        "class Hooks:\n"
        "    def install(self, patches):\n"
        "        patches.wrap(torch, 'compile', self._compile)\n"
        "        atexit.register(self.end)\n"
        "    def end(self): ...\n"
        "    def _compile(self, original):\n"
        "        def compile(*args):\n"
        "            return original(*args)\n"
        "        return compile\n"
        "class Finder(MetaPathFinder):\n"
        "    def find_spec(self, name): ...\n"
    )
    assert strangers(ast.parse(text)) == ["end (line 4)", "find_spec (line 11)", "_compile makes compile"]
