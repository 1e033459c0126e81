"""Credits and tiles in flight of one pipe on the screen, for the rule sets and depths that are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pto_tune.cli import output, text

if TYPE_CHECKING:
    from pto_tune.rule_sets import RuleSet

TILES = 64
KINDS = ("TPipe", "TMPipe", "gated")

Row = dict[str, Any]


def only_with_slots(tiles: int, kind: str, period: int) -> None:
    """ValueError where an option is given that means nothing without --slots."""
    given = [
        option
        for option, differs in (("--tiles", tiles != TILES), ("--kind", kind != KINDS[0]), ("--period", period != 0))
        if differs
    ]
    if given:
        raise ValueError(f"{' and '.join(given)} counts credits: give --slots N too")


def rows(
    rule_sets: Sequence[RuleSet], slots: Sequence[int], tiles: int, kind: str = KINDS[0], period: int = 0
) -> list[Row]:
    """A row for each rule set and SlotNum, and a further one where rings in UB or L1 with IsNoSplit differ.

    ValueError for a kind that is none, and for a period of a pipe that has none of its own.
    """
    form = _form(kind)
    if period and form != "gated TMPipe":
        raise ValueError(
            f"--period {period} goes with --kind gated: a TPipe derives its SyncPeriod, and a TMPipe with its default "
            "switches waits for every tile"
        )
    found = []
    for r in rule_sets:
        for local in (False, True) if r.local_no_split and form == "TPipe" else (False,):
            found += [_row(r, n, tiles, form, period, local) for n in slots]
    return found


def _form(kind: str) -> str:
    """The form as the library names it."""
    from pto_tune.rule_sets.credits import FORMS

    by_kind = dict(zip((k.lower() for k in KINDS), FORMS, strict=True))
    try:
        return by_kind[kind.strip().lower()]
    except KeyError:
        raise ValueError(f"--kind {kind!r} is no kind of pipe: choose one of {', '.join(KINDS)}") from None


def _row(r: RuleSet, slots: int, tiles: int, form: str, period: int, local: bool) -> Row:
    from pto_tune.rule_sets import credits as c

    counted = (r, slots, period, tiles)
    row: Row = {
        "rule_set": r.name,
        "pipe": form,
        "local_no_split": local,
        "slot_num": slots,
        "sync_period": int(c.sync_period(r, slots, period, form=form)),
        "tiles": tiles,
        "in_flight": int(c.most_in_flight(*counted, form=form, local_no_split=local)),
        "constructed": int(c.constructed(r, slots, period, form=form, local_no_split=local)),
        "notified": int(c.notified(*counted, form=form)),
        "waited": int(c.waited(*counted, form=form)),
        "drained": int(c.drained(*counted, form=form, local_no_split=local)),
        "left": int(c.left(*counted, form=form, local_no_split=local)),
    }
    follows = list(_follows(row, r.counter_max))
    return {**row, "verdict": follows[0][0] if follows else "ok", "why": [why for _, why in follows]}


def _follows(row: Mapping[str, Any], counter_max: int) -> Iterator[tuple[str, str]]:
    """Verdicts of a bare stream, in the order of their precedence."""
    if counter_max and row["in_flight"] > counter_max:
        yield "refused", f"{row['in_flight']} tiles in flight, and the flag counter holds {counter_max}"
    if row["left"] < 0:
        yield "hang", f"the destructor waits for {_credits(-row['left'])} that nobody sends"
    if row["in_flight"] > row["slot_num"]:
        yield "overwrite", f"{row['in_flight']} tiles in flight, {row['slot_num']} slots"
    if row["left"] > 0:
        stay = "stays" if row["left"] == 1 else "stay"
        yield "overwrite", f"{_credits(row['left'])} {stay} in the flag for the next launch"


def _credits(number: int) -> str:
    return "1 credit" if number == 1 else f"{number} credits"


def show(found: Sequence[Row]) -> None:
    """The rows as a table, with what they mean."""
    first = found[0]
    output.say(
        f"{first['pipe']}, {first['tiles']:,} tiles in a bare stream: each allocated once, popped once and freed "
        "before the next; credits of each sub-core"
    )
    output.say()
    output.table(
        ["rule set", "SlotNum", "SyncPeriod", "in flight", "constructed", "notified", "waited", "drained", "left",
         "verdict", "why"],
        (
            [
                f"{row['rule_set']}, local ring with IsNoSplit" if row["local_no_split"] else row["rule_set"],
                row["slot_num"],
                row["sync_period"],
                *(text.count(row[k]) for k in ("in_flight", "constructed", "notified", "waited", "drained", "left")),
                row["verdict"],
                "; ".join(row["why"]),
            ]
            for row in found
        ),
        right=["SlotNum", "SyncPeriod", "in flight", "constructed", "notified", "waited", "drained", "left"],
    )  # fmt: skip
    output.say()
    output.say(
        "in flight: most tiles stored and not yet popped that the flags allow; left = constructed + notified - waited "
        "- drained. A program whose cores wait for each other by other pipes too may keep fewer in flight, which "
        "'pto-tune evaluate' finds out."
    )
