"""Softmax, sums and maxima over the batch: rows that have nothing to do with each other are mixed."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.atoms import Atoms
from whygrad.flow.axes import Origin, origin
from whygrad.flow.few import few_per_line
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.uses import Uses
from whygrad.model import Backward, Confidence, Kind, Mark, Op, Severity, Site, Step
from whygrad.model.kinds import DRAWS, ELEMENTWISE, REDUCTIONS, SAME_NUMBERS, SCALES, SCORES, SUMS
from whygrad.rules.cause import Cause
from whygrad.rules.losses.wrong_axis import Mixed, WrongAxis
from whygrad.rules.stepped import stepped

_NORMALISES = frozenset((Kind.SOFTMAX, Kind.LOG_SOFTMAX))
_REDUCES = REDUCTIONS | {Kind.CHOOSE, Kind.LOG_SUM}
_ENDS = REDUCTIONS | {Kind.LINEAR, Kind.STORE}  # what is stored is a moving average
_COMPARES = frozenset((Kind.LOSS, Kind.MAGNITUDE, Kind.POWER))
# A probability is asked for its logarithm, or one of it is taken, or compared; attention goes into a product.
_ASKS = SCORES | DRAWS | _COMPARES | {Kind.LOG, Kind.CHOOSE}


def mixed_rows(situation: Situation) -> Iterator[Cause]:
    """The calls that work along the batch where each row stands for itself."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        if not situation.whole(backward):
            continue
        judge = _Rows(backward)
        for op in few_per_line(backward.flow[n] for n in sorted(backward.flow.ops)):
            how = judge.mixes(op) if op.site not in done else None
            keys = situation.parts(backward).behind(op.id) if how else frozenset[int]()
            keys = keys & backward.applied or backward.applied
            if how is not None and keys:
                done.add(op.site)
                yield _cause(situation, backward, op, how, keys)
        for op in _in_arrays(situation, backward):
            if op.site not in done and backward.applied:
                done.add(op.site)
                yield _cause(situation, backward, op, Mixed.REDUCED, backward.applied)


def _in_arrays(situation: Situation, backward: Backward) -> Iterator[Op]:
    """``np.max(target.predict(s2))`` in a target: read in the source, as all arithmetic on arrays."""
    flow = situation.parts(backward).flow
    if flow is backward.flow:
        return
    for boot in situation.bootstraps(backward):
        for number in sorted(ancestors(flow, boot.meets.id)):
            op = flow[number]
            if (
                op.via == "source"
                and op.kind in _REDUCES
                and 0 in op.axes
                and flow[op.inputs[0]].shape[0] > 1
            ):
                yield op


class _Rows:
    """The rows in the values behind one loss."""

    def __init__(self, backward: Backward) -> None:
        self._flow = backward.flow
        self._uses = Uses(backward.flow)
        self._atoms = Atoms(backward.flow)

    def mixes(self, op: Op) -> Mixed | None:
        """How rows are mixed here, if they are."""
        if not op.axes or not op.floating or not op.inputs:
            return None
        if op.kind in _NORMALISES:
            if self._over_rows(op) and self._is_asked(op):
                return Mixed.NORMALISED
            return Mixed.CHOICES if self._atoms.normalises_choices(op) else None
        if op.kind not in _REDUCES or not self._over_rows(op):
            return None
        if self._is_centred(op):
            return Mixed.CENTRED
        return Mixed.REDUCED if self._meets_rows(op) or self._taken_for_rows(op) else None

    def _origins(self, op: Op) -> list[Origin]:
        chosen = op.kind in _NORMALISES
        found = [origin(self._flow, op.inputs[0], axis, chosen) for axis in op.axes]
        # of a single output, the mean or the sum over all rows is asked for on purpose; not so along a column
        column = op.kind is Kind.SUM and op.axes == (0,) and len(self._flow[op.inputs[0]].shape) > 1
        return [one for one in found if one is not None and (column or one.layer.shape[-1] != 1)]

    def _over_rows(self, op: Op) -> bool:
        """Does it work along a dimension that is not the features of the layer that gave it?"""
        rows = [one for one in self._origins(op) if not one.features]
        alone = op.kind not in _NORMALISES and any(one.rows == 1 for one in rows)
        return bool(rows) and not alone

    def _is_asked(self, op: Op) -> bool:
        """Is this taken for probabilities, and not for the weights of an average?"""
        if op.kind is Kind.LOG_SOFTMAX:
            return True
        users = [user for _, user in self._uses.onwards(op, frozenset((Kind.MEAN, Kind.LINEAR)))]
        along = {(one.axis,) for one in self._origins(op)}
        averages = any(u.kind is Kind.LINEAR or (u.kind is Kind.SUM and u.axes in along) for u in users)
        return not averages and any(user.kind in _ASKS for user in users)

    def _is_centred(self, op: Op) -> bool:
        """``v + a - a.mean()``: the mean of all rows is taken from each, and nothing divided then."""
        if op.kind is not Kind.MEAN or not op.carries:
            return False
        for here, user in self._uses.onwards(op):
            taken = user.kind is Kind.SUBTRACT and user.inputs[-1] == here.id and len(user.inputs) == 2
            if taken and here.carries and op.inputs[0] in ancestors(self._flow, user.inputs[0]):
                after = [u for _, u in self._uses.onwards(user)]
                spread = any(
                    u.kind in _COMPARES or u.inputs == (user.id, user.id) for u in self._uses.of(user)
                )
                return not spread and not any(u.kind in (Kind.DIVIDE, Kind.LINEAR) for u in after)
        return False

    def _meets_rows(self, op: Op) -> bool:
        """Is the one value that is left combined with numbers of single rows, which it does not come from?"""
        rows = {one.rows for one in self._origins(op)}
        sources = {op.inputs[0], *(one.layer.id for one in self._origins(op))}
        again: set[int] = set()  # a batch that was standardised: each row stands for itself again
        for here, user in self._uses.onwards(op, _ENDS):
            others = [self._flow[i] for i in user.inputs if i != here.id] if user.kind in ELEMENTWISE else []
            met = [other for other in others if _has_rows(rows, here, other)]
            own = [other for other in met if sources & ancestors(self._flow, other.id)]
            if here.id in again or own:
                again.add(user.id)
            elif met:
                return user.kind not in SUMS or self._is_compared(user)
        return False

    def _taken_for_rows(self, op: Op) -> bool:
        """The best row of each output where the best output of each row belongs: a batch that is as long."""
        shape = self._flow[op.inputs[0]].shape
        if op.axes != (0,) or len(shape) != 2 or shape[0] != shape[1] or op.kind not in _REDUCES:
            return False
        for here, user in self._uses.onwards(op, _ENDS):
            others = [self._flow[i] for i in user.inputs if i != here.id]
            if user.kind in (Kind.SUBTRACT, Kind.LOSS) and any(map(self._is_row_by_row, others)):
                return True
        return False

    def _is_row_by_row(self, op: Op) -> bool:
        """One number for each row: an element, or a sum, of the outputs of a layer."""
        while op.kind in SAME_NUMBERS and op.inputs:
            op = self._flow[op.inputs[0]]
        chosen = op.kind in _REDUCES and op.axes in ((), (1,)) and len(op.shape) == 1 and bool(op.inputs)
        return chosen and any(len(self._flow[i].shape) == 2 and self._flow[i].carries for i in op.inputs)

    def _is_compared(self, op: Op) -> bool:
        """A constant that is added to every row does nothing, unless the sum is squared or scaled by rows."""
        users = [user for _, user in self._uses.onwards(op)]
        return any(u.kind in _COMPARES or (u.kind in SCALES and len(u.inputs) > 1) for u in users)


def _has_rows(rows: set[int], here: Op, other: Op) -> bool:
    """Numbers of single rows, beside a value that is the same for all of them."""
    own = other.shape[:1] != () and other.shape[0] in rows and other.shape[0] != 1
    repeated = len(other.shape) > len(here.shape) or here.shape[:1] != other.shape[:1]
    return own and repeated and other.floating


def _cause(situation: Situation, backward: Backward, op: Op, how: Mixed, keys: frozenset[int]) -> Cause:
    centred = how is Mixed.CENTRED
    likely = how in (Mixed.CENTRED, Mixed.REDUCED, Mixed.CHOICES)
    return WrongAxis(
        site=op.site,
        chain=(Step.at(op.site, op.name, mark=Mark.HERE),),
        severity=Severity.WARNING if centred else Severity.ERROR,
        confidence=Confidence.LIKELY if likely else Confidence.CERTAIN,
        loss=backward.flow[backward.roots[0]].site if backward.roots else None,
        how=how,
        operation="max" if op.via == "source" and op.kind is Kind.CHOOSE else op.name,
        axes=op.axes,
        shape=situation.parts(backward).flow[op.inputs[0]].shape,
        **stepped(situation, keys),
    )
