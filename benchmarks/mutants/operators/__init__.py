"""All operators; importing this registers them."""

from mutants.operators import (  # noqa: F401
    cuts,
    extents,
    handing,
    later_losses,
    later_networks,
    later_targets,
    later_tensorflow,
    later_updates,
    losses,
    membership,
    modes,
    scales,
    steps,
    tapes,
    targets,
)
