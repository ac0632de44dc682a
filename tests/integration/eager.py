"""The command line, with a report after nearly every step instead of every few minutes."""

import sys

from whygrad.running import snapshots

snapshots.FIRST = 0.002  # seconds: on a fast machine, too, a short script is looked at several times
snapshots._LONGEST = 0.002
snapshots._CHEAP = 0

taken = []
_one = snapshots.Snapshots._one


def counted(self):
    _one(self)
    taken.append(self.taken)


snapshots.Snapshots._one = counted

from whygrad.cli.main import main  # noqa: E402

code = main()


def tell():
    with open("taken.txt", "w") as file:
        file.write(str(max(taken, default=0)))


import atexit  # noqa: E402

atexit.register(tell)
sys.exit(code)
