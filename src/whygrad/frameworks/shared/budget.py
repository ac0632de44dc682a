"""What looking may cost: every number by which it is decided when to look, for how long, and at how much."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """One for all frameworks. Updates are counted by optimizer."""

    # Recording: every operation of an update, which makes it several times as long.
    first: int = 6  # updates, from the first step on
    again: int = 2  # updates in each later window
    window: int = 100  # the update at which the first of them opens
    thinning: int = 10  # times as many updates until the next one
    doubling: int = 2  # the same, while what was seen depends on rewards that may still come
    triggers: int = 6  # windows that open because other gradients are missing than before
    silent: int = 4  # times the first updates: who has not stepped for so long is not waited for
    operations: int = 200_000  # without a single step: enough of a rollout
    kept: tuple[int, int] = (4, 4)  # recorded updates that are remembered: the first and the last

    # Judging while the script runs, in multiples of the updates that somebody wants to have seen.
    patience: int = 8  # steps of another framework, or of others, while somebody has not stepped at all
    late: int = 40  # steps after which nobody is waited for

    # Looks between two windows: are the same gradients there, how large are they?
    pause: tuple[int, int] = (16, 256)  # updates between two looks, at first and later on
    pulse: int = 64  # updates between two pulses, at first
    pulses: int = 64  # that are kept; then every second one goes, and the pause is twice as long

    # Figures of recorded updates.
    directions: int = 16  # updates that are compared with the one before; few runs record more
    motions: int = 32  # updates before which the way that a step goes is measured
    measured: int = 3  # and then at one of so many
    direction: int = 256  # elements of each parameter by which its direction is judged
    motion: int = 4096  # and by which its way is

    # The shares of a loss's terms: each of them costs a backward pass.
    shares: int = 2  # backwards per line
    terms: int = 6  # of a loss that has more, nothing is measured

    # Compiled updates: tracing tells the structure, a look at a call takes as long as half an update.
    calls: int = 3  # after tracing, during which all is recorded that is done around them
    looks: int = 8  # at the first calls
    compiled_pause: tuple[int, int] = (128, 1024)  # calls between later looks, at first and later on
    calm: int = 1024  # calls that are let through uncounted, if nobody looks at all


BUDGET = Budget()
