"""Are the last two cores of a program copies of one another? Which of the one's numbers is which of the other's.

Conditions, each looked at once for a code
------------------------------------------
- Their operations are the same but for numbers, and each number of the one stands for one of the other: pipes, channels
  and endpoints are their own, duration and structure columns too unless both read the same, and costs are never the
  same (their bytes are counted by column).
- Every channel and endpoint of either core has its twin, with the same place in all tables. No consumer of one is the
  producer's other side on its twin: they exchange nothing.
- Any other core hands on to both in one instruction, with equal latencies and switches, takes from both in one
  instruction, and waits for both in one scalar wait.

What is not recognised raises `DifferentError`: the program is run whole then, which is slower and never wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.tables import mates_of
from pto_tune.lowering import code as c

if TYPE_CHECKING:
    from pto_tune.lowering.code import Code

Ints = NDArray[np.int64]

PLAIN, STRUCTURE, OPERATION, PIPE, CHANNEL, ENDPOINT, TRACK, DURATION = range(8)
FIELDS = {
    c.HALT: (),
    c.LOOP: (STRUCTURE, OPERATION),
    c.NEXT: (OPERATION,),
    c.BEGIN: (PIPE, OPERATION),
    c.SIGNAL: (PIPE, OPERATION),
    c.POP: (CHANNEL, STRUCTURE),
    c.WRITE: (TRACK, ENDPOINT),
    c.READ: (TRACK, ENDPOINT),
    c.EXEC: (DURATION, PLAIN, DURATION),
    c.PUSH: (CHANNEL, DURATION, STRUCTURE),
    c.SWAIT: (CHANNEL, CHANNEL),
    c.IFWAIT: (ENDPOINT, OPERATION, STRUCTURE),
    c.IFNOTIFY: (ENDPOINT, OPERATION, STRUCTURE),
    c.ADVANCE: (ENDPOINT, PIPE),
    c.DRAIN: (ENDPOINT, OPERATION, PLAIN, STRUCTURE),
    c.JUMP: (OPERATION,),
    c.RECORD: (ENDPOINT,),
}
"""What the fields of an operation number; all others are plain."""


class DifferentError(Exception):
    """The last two cores are no twins."""


class Twins:
    """The last core of a code and its twin, the core before it. DifferentError where they are none.

    `twin` maps, by kind of number, the last core's to its twin's; what both share is mapped to itself. `ops` are the
    operations of all other cores, in which the parts that deal with the last core are switched off, and of the twin.
    `channels` and `endpoints` are those that are left without the last core.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        self.b = len(code.cores) - 1
        self.a = self.b - 1
        self.start = int(code.starts[self.b])
        self.shift = self.start - int(code.starts[self.a])  # from an operation of the twin to that of the last core
        self.n_pipes = int(np.searchsorted(code.pipe_core, self.b))  # pipes that are left
        self.pipe_shift = self.n_pipes - int(np.searchsorted(code.pipe_core, self.a))
        self.twin: list[dict[int, int]] = [{} for _ in range(8)]
        self._check(code.ops.shape[0] - self.start == self.shift)
        self._check(code.pipes[self.n_pipes :] and len(code.pipes) - self.n_pipes == self.pipe_shift)
        for i in range(self.start - self.shift, self.start):
            self._pair_operations(code.ops[i].tolist(), code.ops[i + self.shift].tolist())
        self._pair(STRUCTURE, code.steady[self.a], code.steady[self.b])
        self._pipes()
        self._rest_in_order()
        self._endpoints()
        self._channels()
        self._complete()
        self._shared_columns()
        self._hearing()
        self.ops = self._other_cores()
        self._check(self._left(PIPE, len(code.pipes)).tolist() == list(range(self.n_pipes)))
        self.channels = self._left(CHANNEL, len(code.channels))
        self.endpoints = self._left(ENDPOINT, len(code.endpoints))

    def _left(self, kind: int, size: int) -> Ints:
        return np.array([n for n in range(size) if self.twin[kind].get(n, n) == n], dtype=np.int64)

    @staticmethod
    def _check(holds: object) -> None:
        if not holds:
            raise DifferentError

    def _pair(self, kind: int, a: int, b: int) -> None:
        if a < 0 or b < 0:
            self._check(a == b)
        else:
            self._check(self.twin[kind].setdefault(int(b), int(a)) == a)

    def _pair_operations(self, a: list[int], b: list[int]) -> None:
        """Pair what two operations in the same place number."""
        self._check(a[0] == b[0] and a[0] in FIELDS)
        kinds = FIELDS[a[0]]
        for k in range(1, 5):
            kind = kinds[k - 1] if k <= len(kinds) else PLAIN
            if kind == PLAIN:
                self._check(a[k] == b[k])
            elif kind == OPERATION:
                self._check(b[k] == a[k] + self.shift)
            elif kind == PIPE and a[k] >= 0:
                self._check(b[k] == a[k] + self.pipe_shift and a[k] < self.n_pipes)
                self._pair(kind, a[k], b[k])
            else:
                self._pair(kind, a[k], b[k])

    def _pipes(self) -> None:
        code = self.code
        for p in range(self.n_pipes, len(code.pipes)):
            self._check(code.pipe_core[p] == self.b)
            self._check(code.pipe_twin[p] == code.pipe_twin[p - self.pipe_shift])
            self._pair(PIPE, p - self.pipe_shift, p)

    def _rest_in_order(self) -> None:
        """Channels and endpoints of either core that no operation of theirs names are paired in order."""
        code = self.code
        for kind, table in ((ENDPOINT, code.endpoint_table[:, 1:2]), (CHANNEL, code.channel_table[:, :2])):
            known = set(self.twin[kind]) | set(self.twin[kind].values())
            rest = [
                [n for n in np.flatnonzero((table == core).any(axis=1)).tolist() if n not in known]
                for core in (self.a, self.b)
            ]
            self._check(len(rest[0]) == len(rest[1]))
            for x, y in zip(*rest, strict=True):
                self._pair(kind, x, y)

    def _endpoints(self) -> None:
        """Twins among the endpoints say the same, each of its own track and structure columns."""
        for b, a in list(self.twin[ENDPOINT].items()):
            x, y = self.code.endpoint_table[a].tolist(), self.code.endpoint_table[b].tolist()
            self._check(x[1] == self.a and y[1] == self.b and x[2] == y[2] and x[7] == y[7])
            self._pair(TRACK, x[0], y[0])
            self._pair(TRACK, x[6], y[6])
            for k in (3, 4, 5):
                self._pair(STRUCTURE, x[k], y[k])

    def _channels(self) -> None:
        """Twins among the channels lead from and to the same, each of its own."""
        code, core = self.code, {self.a: self.b}
        for b, a in list(self.twin[CHANNEL].items()):
            x, y = code.channel_table[a].tolist(), code.channel_table[b].tolist()
            self._check(self.a in x[:2] and [core.get(n, n) for n in x[:2]] == y[:2] and x[3] == y[3])
            self._pair(STRUCTURE, x[2], y[2])
            if x[5] >= 0 and code.endpoint_table[x[5], 1] != self.a:
                self._check(x[5] == y[5])
            else:
                self._pair(ENDPOINT, x[5], y[5])

    def _complete(self) -> None:
        """Every channel and endpoint of the two cores has its twin, and no other has one; nor does a track of both."""
        code = self.code
        for kind, table in ((CHANNEL, code.channel_table[:, :2]), (ENDPOINT, code.endpoint_table[:, 1:2])):
            last, first = set(self.twin[kind]), set(self.twin[kind].values())
            self._check(len(first) == len(last) and not first & last)
            for n, cores in enumerate(table.tolist()):
                self._check((self.b in cores) == (n in last) and (self.a in cores) == (n in first))
        moved = {b: a for b, a in self.twin[TRACK].items() if a != b}
        self._check(len(set(moved.values())) == len(moved) and not set(moved.values()) & set(moved))

    def _shared_columns(self) -> None:
        """Costs are never shared: the bytes of a column that both run would have to be counted twice."""
        durations = self.twin[DURATION]
        self._check(all(self.code.durations[a].kind != "cost" for b, a in durations.items() if a == b))
        both = {b: a for b, a in durations.items() if a != b}
        self._check(len(set(both.values())) == len(both) and not set(both.values()) & set(durations))

    def _hearing(self) -> None:
        """Who hears from whom on which channel is the same with the two cores exchanged, and they do not hear from one
        another."""
        code, twin = self.code, self.twin
        swap = {**twin[ENDPOINT], **{a: b for b, a in twin[ENDPOINT].items()}}
        channel = {**twin[CHANNEL], **{a: b for b, a in twin[CHANNEL].items()}, -1: -1}
        order = np.array([swap.get(e, e) for e in range(len(code.endpoints))])
        swapped = [[channel.get(int(n), int(n)) for n in row] for row in code.pair_table]
        self._check(np.array_equal(code.pair_table[order][:, order], np.array(swapped)))
        mates = mates_of(code.endpoint_table)
        for e in twin[ENDPOINT]:
            self._check(all(m < 0 or code.endpoint_table[m, 1] != self.a for m in mates[e]))

    def _other_cores(self) -> Ints:
        """All other cores treat both alike. Returns their operations and the twin's, the last core left out."""
        code, channels = self.code, self.twin[CHANNEL]
        never = len(code.structure)  # a column of zeros: the part is left out
        ours = set(channels) | set(channels.values())
        both = {n for b, a in self.twin[DURATION].items() if a != b for n in (a, b)}
        mine = {e for e in range(len(code.endpoints)) if code.endpoint_table[e, 1] >= self.a}
        ops = code.ops[: self.start].copy()
        i, end = 0, self.start - self.shift
        inside: list[tuple[int, ...]] = []
        inside_end = -1
        while i < end:
            op = ops[i].tolist()
            self._check(op[0] in FIELDS)
            for kind, value in zip(FIELDS[op[0]], op[1:], strict=False):
                self._check(not (kind == DURATION and value in both))
                self._check(not (kind == ENDPOINT and value in mine))
            if op[0] in (c.BEGIN, c.SIGNAL):
                inside, inside_end = [], op[2]
            elif op[0] in (c.POP, c.PUSH) and op[1] in ours:
                self._check(i < inside_end)
                inside.append(tuple(op))
                if op[1] in channels:
                    column = 2 if op[0] == c.POP else 3
                    ops[i, 1], ops[i, column] = channels[op[1]], never
            elif op[0] == c.SWAIT and ours & {op[1], op[2]}:
                self._check({channels.get(op[1]), channels.get(op[2])} & {op[1], op[2]})
                ops[i, 1] = op[2] if op[1] in channels else op[1]
                ops[i, 2] = -1
            i += 1
            if i == inside_end:
                self._check(self._alike(inside))
                inside_end = -1
        return ops

    def _alike(self, parts: list[tuple[int, ...]]) -> bool:
        """Whether the parts of an instruction hand on to both in the same way, and take from both."""
        channels = self.twin[CHANNEL]
        of_last = sorted((p[0], channels[p[1]], *p[2:]) for p in parts if p[1] in channels)
        of_twin = sorted(p for p in parts if p[1] not in channels)
        return of_last == of_twin
