"""Do weights that no optimizer trains stay what they were? Looked at while they live, for when they are gone.

Networks that are locals of ``main()`` have died when the run is judged. What is known of them by then was
seen at a step now and then, and in the moment in which the module that owns them went.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from whygrad.doors import door
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.optimizers import Optimizers

_EVERY = 16, 512  # steps between two looks, at first and at most

Fingerprint = Callable[[Any], float | None]


class Standing:
    """First and last looks at weights. ``fingerprint`` gives a number that changes when the values do."""

    def __init__(
        self,
        optimizers: Optimizers,
        fingerprint: Fingerprint,
        stepped_aside: Callable[[BaseException], None],
    ) -> None:
        self._optimizers = optimizers
        self._fingerprint = fingerprint
        self.stepped_aside = stepped_aside
        self._next = 0  # the step of the next look
        self._on = True

    def stop(self) -> None:
        """What dies from now on is not looked at any more."""
        self._on = False

    def due(self, steps: int) -> bool:
        """Is it time for another look?"""
        if steps < self._next:
            return False
        least, most = _EVERY
        self._next = steps + min(max(least, steps // least), most)
        return True

    def look(self, params: Iterable[Param]) -> None:
        """At those that stand still as far as is known, and from now on at their end."""
        for param in params:
            if not param.trained and not param.moved:
                self._look(param)

    def moved(self, param: Param) -> bool:
        """Are its values others than at the first look? Yes, where that cannot be told."""
        if param.trained or param.moved or param.print is None:
            return True
        thing = param.ref()
        if thing is not None:
            return self._fingerprint(thing) != param.print
        return param.gone is None or self._went_on(param.gone)

    def _look(self, param: Param) -> None:
        thing = param.ref()
        if thing is None:
            return
        found = self._fingerprint(thing)
        if param.print is None:
            param.print = found
        else:
            param.moved = found != param.print
        if not param.ends:
            self._await_the_end(param, thing)

    def _await_the_end(self, param: Param, thing: Any) -> None:
        """The weights can be read as long as the module that holds them goes, and no longer."""

        @door
        def gone(_: Any) -> None:
            try:
                param.gone = {r.key: r.steps for r in self._optimizers.all()}
            except Exception as error:
                param.moved = True  # it cannot be told
                self.stepped_aside(error)

        param.ends = (weakref.ref(thing, gone),)
        owner = next((found for ref in param.modules or () if (found := ref()) is not None), None)
        if owner is not None:
            param.ends = (*param.ends, weakref.ref(owner, self._leaving(param)))

    def _leaving(self, param: Param) -> Callable[[Any], None]:
        @door
        def leaving(_: Any) -> None:
            try:
                if self._on and not param.trained and not param.moved:
                    self._look(param)
            except Exception as error:
                param.moved = True  # it cannot be told
                self.stepped_aside(error)

        return leaving

    def _went_on(self, steps: Mapping[int, int]) -> bool:
        """Was something trained on without it? Then it had been replaced, and another one took its part."""
        return any(r.steps > steps[r.key] > 0 for r in self._optimizers.all() if r.key in steps)
