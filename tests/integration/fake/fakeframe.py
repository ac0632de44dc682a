"""A framework with nothing but optimizer steps."""

import os

hooks = []
complete = False


def step():
    """One optimizer step."""
    for hook in list(hooks):
        hook()


if os.environ.get("FAKE_IMPORT") == "fails":
    raise RuntimeError("the framework is broken")

complete = True
