"""What MkDocs does not know of this repository; ``mkdocs.yml`` names this file.

- ``rules/`` and ``decisions/`` in the navigation stand for all pages there, rules by family, decisions by
  number.
- A link to a file or folder that is no page (``../../src/whygrad/zoo/agents/dqn.py``, ``seeds``) leads to a
  page that shows it. Read in the repository itself, the link works as it is written.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

from whygrad.rules.table import by_family

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=\))")
_LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", "": "make"}


def on_config(config: Any) -> Any:
    """Fill the folders in the navigation."""
    config.nav = [_filled(item) for item in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add a page for all that is linked and is no page."""
    for page in list(files.documentation_pages()):
        for link in _LINK.findall(page.content_string):
            shown = _shown(page.src_uri, link)
            if shown and files.get_file_from_path(shown[0]) is None:
                uri, path = shown
                content = _source_page(path)
                level = InclusionLevel.NOT_IN_NAV
                files.append(File.generated(config, uri, content=content, inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead such links to those pages."""
    here = page.file.src_uri

    def there(link: re.Match[str]) -> str:
        shown = _shown(here, link[0])
        return posixpath.relpath(shown[0], posixpath.dirname(here) or ".") if shown else link[0]

    return _LINK.sub(there, markdown)


def _filled(item: Any) -> Any:
    """The navigation below one item."""
    if not isinstance(item, dict):
        return item
    ((title, below),) = item.items()
    if below == "rules/":
        families = by_family().items()
        return {
            title: ["rules/index.md", *({f: [f"rules/{r.slug}.md" for r in rules]} for f, rules in families)]
        }
    if below == "decisions/":
        return {title: [f"decisions/{path.name}" for path in sorted((DOCS / "decisions").glob("*.md"))]}
    return {title: [_filled(part) for part in below] if isinstance(below, list) else below}


def _shown(here: str, link: str) -> tuple[str, Path] | None:
    """The address of the page that shows a linked file, and the file; nothing if the link leads to a page."""
    path = (DOCS / posixpath.dirname(here) / link).resolve()
    inside = path.is_relative_to(DOCS) and not path.is_dir() and path.parent != DOCS / "seeds"
    if inside or not path.is_relative_to(ROOT) or not path.exists():
        return None
    return f"source/{path.relative_to(ROOT).as_posix()}.md", path


def _source_page(path: Path) -> str:
    """The file, or every file in the folder, as it is."""
    files = sorted(p for p in path.iterdir() if p.suffix == ".py") if path.is_dir() else [path]
    parts = [f"# {path.relative_to(ROOT).as_posix()}"]
    for file in files:
        parts += [f"## {file.name}"] if path.is_dir() else []
        parts.append(
            f"````` {_LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8')}\n`````"
        )
    return "\n\n".join(parts) + "\n"
