"""What a verb says of somebody's files: printable on any terminal, whatever stands in them."""

from __future__ import annotations

import sys
from typing import TextIO

from whygrad import strangers


def say(text: str, stream: TextIO) -> None:
    """Print it; a character that the stream does not know is written out."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.removesuffix("\n").encode(encoding, "backslashreplace").decode(encoding) + "\n")


def refuse(why: object) -> int:
    """One sentence on stderr, and the exit code of what cannot be read."""
    say(f"whygrad: {strangers.line(why)}", sys.stderr)
    return 2
