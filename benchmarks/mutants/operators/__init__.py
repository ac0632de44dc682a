"""All operators; importing this registers them."""

from mutants.operators import (  # noqa: F401
    cuts,
    extents,
    handing,
    losses,
    membership,
    modes,
    scales,
    steps,
    tapes,
    targets,
)
