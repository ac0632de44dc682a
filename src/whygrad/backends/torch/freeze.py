"""Evidence from torch's records."""

from __future__ import annotations

from whygrad.backends.recording.freeze import Freezer
from whygrad.backends.recording.nodes import Param
from whygrad.backends.torch.weights import has_moved


class TorchFreezer(Freezer):
    """Can tell whether weights have moved."""

    def moved(self, param: Param) -> bool:
        """Are its values others than at its first use?"""
        return has_moved(param)
