"""What python does first in every process that a watched program starts: wait for a framework.

``whygrad-start.pth`` calls it where the variable is set. Most of those processes train nothing, so this
imports nothing, not even ``whygrad.doors``, whose law it obeys. Who imports a framework is watched.
"""

from __future__ import annotations

import sys

FRAMEWORKS = ("torch", "tensorflow", "jax")


class _First:
    """Stands in front of all finders until the first framework is asked for."""

    def find_spec(self, fullname, path=None, target=None):
        """Finds nothing itself; the process is watched from here on."""
        if fullname not in FRAMEWORKS or self not in sys.meta_path:
            return None
        try:
            sys.meta_path.remove(self)
            from whygrad.processes.member import join

            join()
        except Exception:  # the process runs without us
            pass
        for finder in list(sys.meta_path):  # whoever watches is among them now, and has the first word
            find = getattr(finder, "find_spec", None)
            spec = None if find is None else find(fullname, path, target)
            if spec is not None:
                return spec
        return None


_first = _First()


def wait() -> None:
    """Until a framework is imported."""
    if _first not in sys.meta_path:
        sys.meta_path.insert(0, _first)


def stay_away() -> None:
    """This process is watched by other means."""
    if _first in sys.meta_path:
        sys.meta_path.remove(_first)
