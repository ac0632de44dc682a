"""`whygrad explain`: the rules, and the page of one."""

from __future__ import annotations

import difflib

from whygrad.reporters.style import Style, wrap
from whygrad.rules.rule import Page
from whygrad.rules.table import FAMILIES, RULES, by_family

_INDENT = "  "


def render_list(color: bool = False, width: int = 88) -> str:
    """All rules, by family, one line each."""
    style = Style(color)
    column = max(map(len, RULES)) + 2
    lines: list[str] = []
    for family, rules in by_family().items():
        lines.append(f"{style.paint('bold', family)}: {FAMILIES[family]}")
        for rule in rules:
            first, *more = wrap(rule.page.summary, width - column - len(_INDENT))
            lines.append(f"{_INDENT}{style.paint('code', rule.slug.ljust(column))}{style.inline(first)}")
            lines += [" " * (column + len(_INDENT)) + style.inline(line) for line in more]
        lines.append("")
    return (
        "\n".join([*lines, f"one of them in full: {style.paint('code', 'whygrad explain detached')}"]) + "\n"
    )


def render_rule(slug: str, color: bool = False, width: int = 88) -> str:
    """The page of one rule. Raises ``LookupError``, with the nearest name in it, for an unknown one."""
    if slug not in RULES:
        raise LookupError(unknown(slug))
    style, page = Style(color), RULES[slug].page
    lines = [f"{style.paint('bold', page.slug)}: {style.inline(page.summary)}"]
    for name, text in sections(page):
        head = [style.paint("bold", name)] if name else []
        lines += ["", *head, *_body(name, text, style, width)]
    return "\n".join(lines) + "\n"


def unknown(slug: str) -> str:
    """The sentence for a name that is no rule."""
    near = difflib.get_close_matches(slug.lower().replace("_", "-"), RULES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`whygrad explain` lists them all."
    return f"there is no rule {slug!r}; {hint}"


def sections(page: Page) -> list[tuple[str, str]]:
    """Its headings and what stands below them."""
    found = [
        ("What it is", page.what),
        ("Why it is bad", page.why),
        ("Example", page.bad),
        ("Use instead", page.good),
        ("", page.use_instead),
        ("Example (TensorFlow)", page.bad_tensorflow),
        ("Use instead (TensorFlow)", page.good_tensorflow),
        ("Avoid", page.avoid),
        ("Where a finding points", page.site),
    ]
    return [(name, text) for name, text in found if text]


def _body(name: str, text: str, style: Style, width: int) -> list[str]:
    if name.startswith(("Example", "Use instead")):
        role = "cut" if name.startswith("Example") else "code"
        return [f"{_INDENT}  {style.paint(role, line)}".rstrip() for line in text.splitlines()]
    return [_INDENT + style.inline(line) for line in wrap(text, width - len(_INDENT))]
