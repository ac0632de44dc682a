"""``DistributedDataParallel`` that waits for gradients which never come: which parameters are they?"""

from __future__ import annotations

import re

from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from whygrad.frameworks.shared.frames import Where, locate
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.torch import modules

_WAITING = "Expected to have finished reduction in the prior iteration"
_INDICES = re.compile(r"did not receive grad for rank \d+:((?: \d+)+)")


def waited_for(error: BaseException) -> tuple[list[Tensor], Where | None]:
    """The parameters that this error speaks of by their numbers alone, and the user's line it came from."""
    numbers = _INDICES.search(str(error))
    if _WAITING not in str(error) or numbers is None:
        return [], None
    step = error.__traceback__
    while step is not None:
        module = variables_of(step.tb_frame).get("self")
        if is_a(module, DistributedDataParallel):
            known = [p for p in modules.parameters(module) if p.requires_grad]
            chosen = [known[int(n)] for n in numbers[1].split() if int(n) < len(known)]
            return chosen, locate(step.tb_frame)
        step = step.tb_next
    return [], None
