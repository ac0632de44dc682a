"""What every rule is: a page to read and a sentence to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from whygrad.flow.situation import Situation
from whygrad.model import Finding
from whygrad.rules.cause import Cause

C = TypeVar("C", bound=Cause)


@dataclass(frozen=True, slots=True)
class Page:
    """The documentation of a rule: `whygrad explain SLUG` and docs/rules/SLUG.md come from it."""

    slug: str
    family: str  # missing | wrong | unhealthy
    summary: str  # one line, as in the table of rules
    what: str
    why: str
    bad: str  # a few lines of code
    good: str  # the same lines, right
    use_instead: str  # one or two sentences
    avoid: str = ""  # the popular fix that makes it worse
    site: str = ""  # which line a finding points at
    bad_tensorflow: str = ""  # the same in TensorFlow, where the lines differ by more than names
    good_tensorflow: str = ""
    bad_jax: str = ""  # and in JAX
    good_jax: str = ""


@dataclass(frozen=True, slots=True)
class Rule(Generic[C]):
    """A page, the words for its causes, what such a cause is, and the question that finds them."""

    page: Page
    phrase: Callable[[C], Finding]
    cause: type[C]
    asks: Callable[[Situation], Iterator[C]] | None = None  # or a judge_*.py finds several

    @property
    def slug(self) -> str:
        """The public name; it never changes once it has shipped."""
        return self.page.slug
