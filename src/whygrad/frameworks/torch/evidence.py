"""Evidence from torch's records."""

from __future__ import annotations

from whygrad.frameworks.shared.evidence import Freezer
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.records import Records
from whygrad.frameworks.shared.standing import Standing
from whygrad.frameworks.torch.kinds import KINDS


class TorchFreezer(Freezer):
    """Can tell whether weights have moved."""

    kinds = KINDS

    def __init__(self, records: Records, standing: Standing) -> None:
        super().__init__(records)
        self._standing = standing

    def moved(self, param: Param) -> bool:
        """Are its values others than at the first look?"""
        return self._standing.moved(param)
