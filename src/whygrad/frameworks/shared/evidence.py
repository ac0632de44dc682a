"""From live records to the plain evidence that rules judge. The last place that knows nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.kinds import Kinds, is_swapped
from whygrad.frameworks.shared.networks import anonymous, nameless, tell_apart
from whygrad.frameworks.shared.nodes import Gate, Node, Param, cone
from whygrad.frameworks.shared.records import (
    BackwardRecord,
    ClipRecord,
    EmptyRecord,
    HandoverRecord,
    OptimizerRecord,
    Records,
    UpdateRecord,
)
from whygrad.frameworks.shared.written import decorator_line, public
from whygrad.model import (
    Alias,
    Backward,
    Block,
    Changed,
    Clear,
    Clip,
    Copy,
    Crash,
    EmptyList,
    Evidence,
    Flag,
    Flow,
    Handover,
    Op,
    Optimizer,
    Parameter,
    Site,
    Switch,
    Update,
)


class Freezer:
    """Converts each node, place and backward once."""

    kinds: Kinds  # what the framework's names mean

    def __init__(self, records: Records) -> None:
        self._records = records
        self._ops: dict[Any, Op] = {}
        self._ids: dict[Node, int] = {}
        self._sites: dict[Where, Site] = {}
        self._backwards: dict[BackwardRecord, Backward] = {}
        self._met: dict[int, Param] = {}

    def evidence(self, crash: tuple[str, str] | None, finished: bool) -> Evidence:
        """All of it."""
        records = self._records.optimizers
        tell_apart(self._records.params, records, self._records.copies)
        updates = tuple(self._update(r, u) for r in records for u in r.updates)
        used = {b for r in records for u in r.updates for b in u.backwards}
        loose = tuple(self._backward(b) for b in self._records.pending if b not in used)
        optimizers = {r.key: self._optimizer(r) for r in records}
        last = self._crash(crash)
        self._met.update((key, param) for key, (param, _) in self._records.assigned.items())
        clips = tuple(self._clip(c) for c in self._records.clips)
        copies = tuple(self._copies())
        empty = tuple(map(self._empty, self._records.empty))
        handovers = tuple(map(self._handover, self._records.handovers))
        return Evidence(
            parameters={key: self._parameter(self._seen(p)) for key, p in self._met.items()},
            optimizers=optimizers,
            updates=updates,
            loose=loose,
            always_absent={r.key: r.absent_always or frozenset() for r in records},
            assigned={key: self._site(where) for key, (_, where) in self._records.assigned.items()},
            clips=tuple(sorted(clips, key=lambda c: c.time)),
            clears=tuple(
                Clear(self._site(c.where), c.time, frozenset(c.touched), c.by) for c in self._records.clears
            ),
            copies=copies,
            empty=empty,
            handovers=handovers,
            switches=tuple(
                Switch(self._site(s.where), s.time, s.training, frozenset(s.touched))
                for s in self._records.switches
            ),
            aliases=tuple(Alias(names, frozenset(keys)) for names, keys in self._records.aliases),
            flags=tuple(Flag(name, at.site(), inside, n) for at, name, inside, n in self._records.flags),
            pulses={r.key: r.pulses.all() for r in records},
            looks={r.key: (*r.looks, *r.late) for r in records if r.looks},
            crash=last,
            finished=finished,
        )

    # -- nouns -------------------------------------------------------------------------------------

    def _site(self, where: Where | None) -> Site | None:
        if where is None:
            return None
        site = self._sites.get(where)
        if site is None:
            site = self._sites[where] = where.site()
        return site

    def _place(self, where: Where) -> Site:
        site = self._site(where)
        assert site is not None
        return site

    def _seen(self, param: Param) -> Param:
        """A parameter as this look sees it."""
        return self._records.params.get(param.key, param)

    def _parameter(self, param: Param) -> Parameter:
        tensor = param.ref()
        origin = self._seen(param.copied_from) if param.copied_from is not None else None
        return Parameter(
            key=param.key,
            name=param.name or anonymous(param),
            network=param.network or param.name.partition(".")[0] or nameless(param, origin),
            shape=param.shape,
            trainable=self.trainable(tensor) if tensor is not None else self.was_trainable(param),
            made=tuple(site for where in param.made if (site := self._site(where)) is not None),
            frozen_at=self._site(
                param.frozen_at or (param.made[0] if param.born_frozen and param.made else None)
            ),
            frozen_when=param.frozen_when,
            replaced_at=self._site(param.replaced_at),
            replaced_when=param.replaced_when,
            captured_at=self._site(self.captured(param)),
            untracked_in=param.untracked_in,
            untracked_how=param.untracked_how,
            copy_of=(origin.network or origin.name or "another network") if origin is not None else "",
            written=param.writer is not None,
            trained=param.trained,
            loaded=param.loaded or origin is not None,
            used=param.used,
            hidden=param.hidden,
            moved=self.moved(param),
            alive=param.seen,
            lasting=param.proper or param.asked > 1,
        )

    def _clip(self, clip: ClipRecord) -> Clip:
        return Clip(
            self._site(clip.where),
            clip.time,
            clip.kind,
            frozenset(clip.touched),
            frozenset(clip.present),
            clip.threshold,
            clip.before,
            clip.fresh,
            clip.awaited,
            clip.ready,
            clip.scaled,
        )

    def _empty(self, record: EmptyRecord) -> EmptyList:
        self._met.update(record.params)
        keys = frozenset(record.params)
        return EmptyList(self._site(record.where), record.kind, keys, record.asked, record.used_up)

    def _handover(self, record: HandoverRecord) -> Handover:
        self._met.update({**record.sources, **record.targets})
        keys = frozenset(record.sources), frozenset(record.targets)
        return Handover(self._site(record.where), *keys, tuple(record.times))

    def _copies(self) -> Iterable[Copy]:
        """Copies between parameters that the rest of the evidence knows."""
        for copy in self._records.copies:
            self._met.update({copy.source.key: copy.source, copy.target.key: copy.target})
            yield Copy(
                copy.source.key,
                copy.target.key,
                self._site(copy.where),
                copy.how,
                copy.factor,
                copy.own,
                copy.first,
                copy.last or copy.first,
                copy.times,
                tuple(map(self._place, copy.where.outer)) if copy.where is not None else (),
            )

    def _optimizer(self, record: OptimizerRecord) -> Optimizer:
        self._met.update(record.held)
        return Optimizer(
            key=record.key,
            name=record.name or record.kind,
            kind=record.kind,
            made=self._site(record.made),
            held=frozenset(record.held),
            steps=record.steps,
            lr_always_zero=record.lr_always_zero and record.steps > 0,
            faded=record.faded,
            still=dict(record.still),
            maximize=record.maximize,
            clears=record.clears,
            remembers=record.remembers,
            by_hand=record.by_hand,
            searches=record.closures,
        )

    def _update(self, record: OptimizerRecord, update: UpdateRecord) -> Update:
        return Update(
            optimizer=record.key,
            number=update.number,
            since=update.since,
            crossed=update.crossed,
            rejected=update.rejected,
            clipped_away=update.clipped_away,
            clipped_at=self._site(update.clipped_at),
            site=self._site(update.where),
            time=update.time,
            lost=update.lost,
            lost_at=self._site(update.lost_at),
            dropped=update.dropped,
            forgot=self._site(update.forgot),
            largest=update.largest,
            moved=update.moved,
            turned=update.turned,
            prints=update.prints,
            wrapped=update.wrapped,
            absent=update.absent,
            zero=update.zero,
            backwards=tuple(self._backward(b) for b in update.backwards),
        )

    def _backward(self, record: BackwardRecord) -> Backward:
        known = self._backwards.get(record)
        if known is None:
            reached = self.reached(record)
            self._met.update(reached)
            self._met.update(record.wanted)
            changed = tuple(
                Changed(self._id(node), value, writer, self._site(where))
                for node, value, writer, where in record.changed
            )
            known = self._backwards[record] = Backward(
                number=record.number,
                site=self._site(record.where),
                roots=tuple(map(self._id, record.roots)),
                flow=self._flow(
                    record,
                    (
                        *record.roots,
                        *record.exits,
                        *record.acts,
                        *record.unused,
                        *record.ends,
                        *record.unconnected,
                        *(node for node, *_ in record.changed),
                    ),
                ),
                reached=frozenset(reached),
                wanted=frozenset(record.wanted),
                error=record.error,
                applied=frozenset(record.applied),
                taken=frozenset(record.taken),
                follower=record.follower,
                exits=tuple(map(self._id, record.exits)),
                acts=tuple(map(self._id, record.acts)),
                unused=tuple(map(self._id, record.unused)),
                ends=tuple(map(self._id, record.ends)),
                unconnected=tuple(map(self._id, record.unconnected)),
                changed=changed,
                stale=record.stale,
                followed=record.followed,
                shares={self._id(node): norms for node, norms in record.shares},
                unmeasured=record.unmeasured,
                value=record.value,
                time=record.time,
                runs=record.runs,
                tape=record.tape is not None,
                asked=record.asked,
            )
        return known

    def _crash(self, crash: tuple[str, str] | None) -> Crash | None:
        if crash is None:
            return None
        kind, message = crash
        failure = self._records.failure
        if failure is None or failure[:2] != (kind, message):
            return Crash(error=message, type=kind, site=None, block=self._block(self._records.gate))
        _, _, name, where, inputs = failure
        return Crash(
            message,
            kind,
            self._site(where),
            name,
            tuple(map(self._id, inputs)),
            self._flow(None, inputs),
            callers=tuple(map(self._place, where.outer)) if where is not None else (),
        )

    # -- flows -------------------------------------------------------------------------------------

    def reached(self, record: BackwardRecord) -> dict[int, Param]:
        """What a backward has reached."""
        return record.reached

    def moved(self, param: Param) -> bool:
        """Are its values others than at its first use? Yes, where that cannot be told."""
        return True

    def trainable(self, tensor: Any) -> bool:
        """Does this parameter ask for gradients now?"""
        return bool(tensor.requires_grad)

    def was_trainable(self, param: Param) -> bool:
        """Did it ask for gradients when it was last seen? It is gone: a local of ``main()``.

        Who has been trained was frozen for a while, and may have been thawed while nobody looked.
        """
        seen = param.node is None or param.node.carries
        return param.trained or seen or (param.frozen_at is None and not param.born_frozen)

    def captured(self, param: Param) -> Where | None:
        """Where a compiled function took it, if nobody else has it any more."""
        return self._records.captured if param.captured else None

    def carries(self, node: Node, record: BackwardRecord | None) -> bool:
        """Does gradient of this backward flow through the value?"""
        return node.carries

    def gate(self, node: Node, record: BackwardRecord | None) -> Gate | None:
        """What turned gradients off for the value."""
        return node.gate

    def _flow(self, record: BackwardRecord | None, roots: Iterable[Node]) -> Flow:
        ops = {}
        for node in cone(roots):
            carries, gate = self.carries(node, record), self.gate(node, record)
            op = self._ops.get((node, carries, gate))
            if op is None:
                op = self._ops[node, carries, gate] = self._op(node, carries, gate)
            ops[op.id] = op
        return Flow(ops)

    def _id(self, node: Node) -> int:
        return self._ids.setdefault(node, len(self._ids) + 1)

    def _op(self, node: Node, carries: bool, gate: Gate | None) -> Op:
        where = node.where
        if node.parameter is not None:
            self._met[node.parameter.key] = node.parameter
        inputs, swapped = tuple(map(self._id, node.inputs)), is_swapped(node.name)
        return Op(
            id=self._id(node),
            name=node.name,
            inputs=inputs[::-1] if swapped else inputs,
            carries=carries,
            site=self._site(where),
            callers=tuple(map(self._place, where.outer)) if where is not None else (),
            api=public(where) if where is not None else "",
            block=self._block(gate),
            floating=node.floating,
            shape=node.shape,
            parameter=node.parameter.key if node.parameter is not None else None,
            fresh=node.fresh,
            left=node.left,
            via=node.via,
            numbers=node.numbers,
            swapped=swapped and len(inputs) == 1,
            odd=node.odd,
            ones=node.ones,
            walked=node.mark[0],
            time=node.time,
            values=node.values,
            groups=node.groups,
            kind=self.kinds.of(node.name, len(inputs)),
            axes=node.axes,
            scored=node.consumed and not node.taken,
            training=node.training,
        )

    def _block(self, gate: Gate | None) -> Block | None:
        if gate is None:
            return None
        site = self._place(gate.where)
        return Block(gate.kind, decorator_line(site) if gate.kind.startswith("@") else site, gate.tape)
