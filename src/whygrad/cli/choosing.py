"""Which rules are wanted: ``--select``, ``--ignore``, and what a project says for all its runs."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from whygrad.model.choice import Choice

_KEYS = ("select", "ignore")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two options."""
    parser.add_argument("--select", metavar="RULES", help="only these rules, with commas between them")
    parser.add_argument("--ignore", metavar="RULES", help="not these rules; what is ignored is counted")


def choice(parser: argparse.ArgumentParser, options: argparse.Namespace, folder: str) -> Choice | None:
    """What the command line says, else the project of this folder."""
    told = {key: getattr(options, key).replace(",", " ").split() for key in _KEYS if getattr(options, key)}
    file, settings = _settings(Path(folder).resolve())
    if not told and not settings:
        return None
    from whygrad.rules.table import RULES  # all rules: not before they are needed

    for key, words in told.items():
        for word in words:
            if word not in RULES:
                parser.error(f"--{key}: there is no rule {word!r}; whygrad explain lists them")
    lists = {key: tuple(told.get(key) or _known(settings.get(key), RULES)) for key in _KEYS}
    trouble = tuple(_wrong(file, settings, RULES))
    return Choice(lists["select"], lists["ignore"], "command line" if told else file, trouble)


def _settings(folder: Path) -> tuple[str, dict[str, Any]]:
    """The nearest ``whygrad.toml``, or ``[tool.whygrad]`` of a ``pyproject.toml``, upward from a folder."""
    for here in (folder, *folder.parents):
        own = _read(here / "whygrad.toml")
        if own is not None:
            return "whygrad.toml", own
        tool = (_read(here / "pyproject.toml") or {}).get("tool")
        ours = tool.get("whygrad") if isinstance(tool, dict) else None
        if isinstance(ours, dict):
            return "pyproject.toml", ours
    return "", {}


def _read(file: Path) -> dict[str, Any] | None:
    """What it says; nothing where there is none, or where it is none of TOML's."""
    if not file.is_file():
        return None
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _words(value: object) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _known(value: object, rules: Container[str]) -> list[str]:
    return [word for word in _words(value) if word in rules]


def _wrong(file: str, settings: dict[str, Any], rules: Container[str]) -> Iterator[str]:
    """A project's mistakes are told; they never keep a program from running."""
    for key, value in settings.items():
        if key not in _KEYS:
            yield f"{file}: whygrad knows no setting {key!r}, only select and ignore"
        elif not isinstance(value, list):
            yield f"{file}: {key} should be a list of rules"
        for word in _words(value) if key in _KEYS else ():
            if word not in rules:
                yield f"{file}: {key} names {word!r}, and there is no such rule"
