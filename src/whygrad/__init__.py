"""whygrad runs your unmodified training script and tells why a parameter gets no gradient.

Importing it is light and imports no framework: the public names are looked up when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all of this, and child processes start with it
if TYPE_CHECKING:
    from typing import Any

    from whygrad.api import assert_gradients_flow, explain, summarize, watching

__version__ = "0.1.0"

__all__ = ["__version__", "assert_gradients_flow", "explain", "summarize", "watching"]


def __getattr__(name: str) -> Any:
    """Find a public name in ``whygrad.api``, which is imported only now."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whygrad import api

    value = getattr(api, name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext whygrad`` gives a notebook ``%%whygrad``."""
    from whygrad import api

    api.load_ipython_extension(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
