"""``python -m whygrad``."""

from __future__ import annotations

import sys

from whygrad.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
