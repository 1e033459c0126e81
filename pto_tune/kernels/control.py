"""Loops and conditions of a program (scf.for, scf.if), calls of other functions, sections.

A loop whose index decides a condition is taken apart where the condition changes: `i == 0`, `i < n - 1` and the like
make a part before, at and behind it. Where the index decides something else (an inner bound, a tile by turns), a loop
of a known number of trips is written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pto_tune.kernels import attributes as words
from pto_tune.kernels.faults import Place
from pto_tune.kernels.items import Item, Repeat
from pto_tune.kernels.parsing import Op
from pto_tune.kernels.pipes import walk
from pto_tune.kernels.scalars import COMPARISONS, is_scalar, scalar
from pto_tune.kernels.state import MAX_READ, Core
from pto_tune.kernels.values import Number, Other, Tile, Value, combine, number
from pto_tune.model.expr import Expr, expr

MOST_WRITTEN_OUT = 128
MOST_CUTS = 4
DEFAULT_TRIPS = 16
"""Trips of a loop whose bound is an argument, unless the user gives a value."""

Read = Callable[[Sequence[Op]], list[Value]]
"""Reads the operations of a region, and gives what it yields."""


@dataclass(frozen=True)
class _Uses:
    """What the index of a loop decides: conditions `index PREDICATE value` that can be cut, or other things."""

    compares: tuple[tuple[str, str], ...]
    other: Op | None


def for_loop(core: Core, op: Op, read: Read) -> None:
    """scf.for: the loop as one or several repeated parts."""
    head, _, args = _header(op)
    if len(head) != 4 or not op.regions:
        core.say(op.place, "scf.for has no index, bounds and step that are values: expected '%i = %a to %b step %c'")
        return
    index, first, end, stride = head[0], *(core.number(v) for v in head[1:])
    step_ = stride.constant
    trips = _trips(first, end, stride)
    carried = [core.look(initial) or Other() for _, initial in args]
    if trips.expr is None or step_ is None or step_ < 1:
        why = trips.why or "its step is no number of at least 1"
        core.say(op.place, f"how often this loop runs is not known, because {why}: expected constants and arguments")
        _results(core, op, carried)
        return
    core.needed(trips.expr, DEFAULT_TRIPS * step_, op.place, "a bound of the loop")
    uses = _uses(core, index, op.regions[0])
    cuts = _cuts(core, uses, first, stride, trips, op.place)
    body = op.regions[0]
    if uses.other is None and cuts is not None:
        edges = [(number(0), number(0)), *cuts, (trips, trips)]
        for (start, whole), (stop, _) in pairwise(edges):
            count = combine("-", stop, start)
            at = combine("+", first, combine("*", whole, stride))
            value = (
                at if cuts else Number(None, f"{index} changes from trip to trip of the loop of line {op.place.line}")
            )
            _part(core, op, count, index, value, args, carried, body, read)
    elif trips.constant is not None and trips.constant <= MOST_WRITTEN_OUT:
        for k in range(trips.constant):
            if core.kernel.read > MAX_READ:
                break
            at = combine("+", first, number(k * step_))
            carried = _part(core, op, number(1), index, at, args, carried, body, read)
    else:
        where = uses.other.place if uses.other is not None else op.place
        what = f"{uses.other.name} depends" if uses.other is not None else "its conditions depend"
        core.say(
            where,
            f"{what} on the index of the loop of line {op.place.line} in a way that is followed in loops of at most "
            f"{MOST_WRITTEN_OUT} known trips only",
        )
    _results(core, op, carried)


def _header(op: Op) -> tuple[list[str], int, list[tuple[str, str]]]:
    """`%i`, bounds and step; where they end; pairs of iter_args."""
    head, i = list[str](), 0
    while i < len(op.tokens) and len(head) < 4:
        token = op.tokens[i]
        if token.kind == "value":
            head.append(token.text)
        elif token.kind == "region":
            break
        i += 1
    group = words.group(op, "iter_args") or ()
    names = [t.text for t in group if t.kind == "value"]
    return head, i, list(zip(names[::2], names[1::2], strict=False))


def _trips(first: Number, end: Number, stride: Number) -> Number:
    span = combine("max", combine("-", end, first), number(0))
    if first.constant == 0 and end.constant is None:
        span = end  # sizes are not negative
    return combine("ceildiv", span, stride)


def _part(
    core: Core,
    op: Op,
    count: Number,
    index: str,
    at: Number,
    args: Sequence[tuple[str, str]],
    carried: Sequence[Value],
    body: Sequence[Op],
    read: Read,
) -> list[Value]:
    """One part of a loop, unless it never runs; gives what the last trip hands on."""
    if count.constant is not None and count.constant < 1:
        return list(carried)
    outer, core.items = core.items, list[Item]()
    start = core.at + 1
    core.scope.levels.append({index: at})
    for (name_, _), value in zip(args, carried, strict=True):
        changes = isinstance(value, Number) and count.constant != 1
        core.scope.set(name_, Number(None, f"{name_} changes from trip to trip") if changes else value)
    yielded = read(body)
    core.scope.levels.pop()
    inner, core.items = core.items, outer
    if count.constant == 1:
        core.items += inner
    elif inner:
        trips = count.expr if count.expr is not None else expr(0)
        core.items.append(Repeat(trips, inner, op.place))
        _keep_alive(core, start)
    if len(yielded) != len(carried):
        return list(carried)
    return [_either(a, b, count.constant == 1) for a, b in zip(carried, yielded, strict=True)]


def _keep_alive(core: Core, start: int) -> None:
    """What is older than a loop and used in it is alive all through it."""
    for a in core.allocations.values():
        if 0 <= a.first < start <= a.last:
            a.touch(core.at)


def _either(a: Value, b: Value, known: bool) -> Value:
    """What one of two ways gives; `known`: the second one."""
    if known:
        return b
    if isinstance(a, Tile) and isinstance(b, Tile):
        return Tile(a.type, a.roots | b.roots, a.valid_rows, a.valid_cols, a.popped or b.popped)
    if isinstance(a, Number) or isinstance(b, Number):
        return Number(None, "it changes from trip to trip")
    return a


def _results(core: Core, op: Op, values: Sequence[Value]) -> None:
    for i, result in enumerate(op.results):
        value = values[i] if i < len(values) else Other()
        if isinstance(value, Number) and op.name == "scf.for":
            value = Number(None, f"{result} is what the loop of line {op.place.line} leaves")
        core.scope.set(result, value)


def _uses(core: Core, index: str, body: Sequence[Op]) -> _Uses:
    """What the index of a loop decides."""
    derived, compares = {index}, dict[str, tuple[str, str, str]]()
    found, other = list[tuple[str, str]](), None
    for op in walk(body):
        names = [t.text for t in op.tokens if t.kind == "value"]
        mine = [n for n in names if n in derived]
        if op.name == "arith.constant" and op.results:  # a bound may stand in the body
            if core.look(op.results[0]) is None:
                core.scope.set(op.results[0], scalar(op, core.look)[0])
            continue
        if not mine:
            continue
        word = next((COMPARISONS[t.text] for t in op.tokens if t.text in COMPARISONS), "")
        if (
            op.name in ("arith.cmpi", "index.cmp")
            and word
            and len(names) == 2
            and (names[0] == index) != (names[1] == index)
        ):
            flip = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
            swapped = names[1] == index
            value = names[0] if swapped else names[1]
            compares[op.results[0]] = (op.results[0], flip.get(word, word) if swapped else word, value)
            derived.add(op.results[0])
        elif op.name == "scf.if":
            if mine[0] in compares:
                found.append(compares[mine[0]][1:])
            else:
                other = other or op
        elif op.name == "scf.for" or any(n in compares for n in mine):
            used = _header(op)[0][1:] if op.name == "scf.for" else mine
            if any(n in derived for n in used):
                other = other or op
        elif op.name in ("arith.select", "pto.multi_tile_get", "func.call", "call"):
            other = other or op if op.name != "func.call" else other
            derived.update(op.results)
        elif is_scalar(op.name):
            derived.update(op.results)
    return _Uses(tuple(dict.fromkeys(found)), other)


def _cuts(
    core: Core, uses: _Uses, first: Number, stride: Number, trips: Number, place: Place
) -> list[tuple[Number, Number]] | None:
    """The trips at which the conditions change, in order: not above those that there are, and as they are where they
    are constants. None where they are not known."""
    whole = list[Number]()
    for word, name_ in uses.compares:
        value = core.number(name_)
        at = combine("ceildiv", combine("max", combine("-", value, first), number(0)), stride)
        past = combine(
            "ceildiv", combine("max", combine("-", combine("+", value, number(1)), first), number(0)), stride
        )
        for cut in {"==": (at, past), "!=": (at, past), "<": (at,), ">=": (at,), "<=": (past,), ">": (past,)}[word]:
            if cut.expr is None:
                return None
            core.needed(cut.expr, DEFAULT_TRIPS, place, "a condition of the loop")
            if cut not in whole and cut.constant != 0:
                whole.append(cut)
    known = sorted(c.constant for c in whole if c.constant is not None)
    if len(known) == len(whole):
        return [(combine("min", number(c), trips), number(c)) for c in known]
    if len(whole) > MOST_CUTS:
        return None
    cuts = [combine("min", cut, trips) for cut in whole]
    for i in range(len(cuts)):
        for k in range(len(cuts) - 1 - i):
            a, b = cuts[k], cuts[k + 1]
            cuts[k], cuts[k + 1] = combine("min", a, b), combine("max", a, b)
    return [(c, c) for c in cuts] if all(c.expr is not None for c in cuts) else None


def if_(core: Core, op: Op, read: Read) -> None:
    """scf.if: both ways, each under its condition."""
    names = [t.text for t in op.tokens if t.kind == "value"]
    condition = core.number(names[0]) if names else Number(None, "it has no condition")
    if condition.expr is None:
        why = condition.why or "its condition is not followed"
        core.say(op.place, f"whether this part runs is not known, because {why}: expected constants and arguments")
        _results(core, op, [])
        return
    core.needed(condition.expr, DEFAULT_TRIPS, op.place, "a condition")
    negated = combine("==", condition, number(0))
    ways = [(condition, op.regions[0] if op.regions else ()), (negated, op.regions[1] if len(op.regions) > 1 else ())]
    yielded = list[list[Value]]()
    for way, body in ways:
        if way.constant == 0:
            yielded.append([])
            continue
        outer, core.items = core.items, list[Item]()
        core.scope.levels.append({})
        yielded.append(read(body))
        core.scope.levels.pop()
        inner, core.items = core.items, outer
        if way.constant:
            core.items += inner
        elif inner:
            core.items.append(Repeat(_as_condition(way), inner, op.place, branch=True))
    if condition.constant is not None:
        _results(core, op, yielded[0 if condition.constant else 1])
        return
    from pto_tune.kernels.values import choose

    merged = list[Value]()
    for a, b in zip(*yielded, strict=False):
        both = isinstance(a, Number) and isinstance(b, Number)
        merged.append(choose(condition, a, b) if both else _either(a, b, known=False))
    _results(core, op, merged)


def _as_condition(way: Number) -> Expr:
    """0 or 1."""
    assert way.expr is not None
    e = way.expr
    return e if e.op in ("==", "!=", "<", "<=", ">", ">=", "and", "or", "not") else e.ne(0)


def call(core: Core, op: Op, read: Read) -> None:
    """func.call: the body of the function with the arguments in place."""
    callee = next((t.text.lstrip("@").strip('"') for t in op.tokens if t.kind == "symbol"), "")
    function = core.kernel.functions.get(callee)
    if function is None or not function.regions:
        core.say(op.place, f"calls {callee or 'nothing'}, whose body is not in the file: expected a function of it")
        _results(core, op, [])
        return
    if callee in core.calls or len(core.calls) > 8:
        core.say(op.place, f"calls {callee} inside of itself, or too deep: expected calls that end")
        return
    given = [core.look(t.text) or Other() for t in op.tokens if t.kind == "value"]
    wanted = [name_ for name_, _ in function_arguments(function)]
    outer, core.calls = core.calls, (*core.calls, callee)
    level, core.scope.levels = core.scope.levels, [dict(zip(wanted, given, strict=False))]
    yielded = read(function.regions[-1])
    core.calls, core.scope.levels = outer, level
    _results(core, op, yielded)


def function_arguments(function: Op) -> list[tuple[str, str]]:
    """Names and types of the arguments of a function."""
    at = next((i for i, t in enumerate(function.tokens) if t.kind == "sign" and t.text == "("), -1)
    if at < 0:
        return []
    inside = function.tokens[at + 1 : words.matching(function.tokens, at)]
    found = list[tuple[str, str]]()
    for part in words.split(inside):
        named = [t.text for t in part if t.kind == "value"]
        kinds = [t.text for t in part if t.kind == "type"]
        if named:
            found.append((named[0], kinds[0] if kinds else ""))
    return found
