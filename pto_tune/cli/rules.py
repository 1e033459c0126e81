"""`pto-tune rules`: what the headers of each pto-isa revision make of a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import credits, options, output, rule_words, text

if TYPE_CHECKING:
    from pto_tune.rule_sets import Direction, Revisions, RuleSet

MAX_NUMBER = 2**31


def register(app: typer.Typer) -> None:
    """Add the command `rules` to `app`."""
    app.command(name="rules", short_help="What the headers of each pto-isa revision make of a pipe.")(rules)


def rules(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="FAMILY|RULE_SET",
            help="A family (a2a3, a5), a platform, or a rule set to show in full.",
            show_default="every family",
        ),
    ] = None,
    pto_isa: Annotated[
        str | None,
        typer.Option("--pto-isa", metavar="REV", help="Show the rule set of this commit or date (YYYY-MM-DD)."),
    ] = None,
    slots: Annotated[
        str | None,
        typer.Option("--slots", metavar="N[,N...]", help="Count credits for these SlotNum (FifoDepth) instead."),
    ] = None,
    tiles: Annotated[
        int,
        typer.Option("--tiles", metavar="N", min=0, max=MAX_NUMBER, help="Tiles that go through the pipe."),
    ] = credits.TILES,
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="TPipe|TMPipe|gated", help="The pipe; 'gated': a TMPipe that its kernel gates."),
    ] = credits.KINDS[0],
    period: Annotated[
        int,
        typer.Option(
            "--period", metavar="P", min=0, max=MAX_NUMBER, help="FiFoSyncT of a gated TMPipe.", show_default="derived"
        ),
    ] = 0,
    as_json: options.Json = False,
) -> None:
    """Show the rule sets: how pipes synchronise under the headers of each pto-isa revision.

    The same kernel is safe under one revision and hangs or overwrites data under another. A family is shown with
    SyncPeriod, waits, credits and revisions of each of its rule sets, and with its directions: where rings lie, which
    pipe sets and waits for which flag. --slots counts credits and tiles in flight of a bare stream: every tile
    allocated once, popped once and freed before the next.

    \b
    Examples:
      pto-tune rules a5
      pto-tune rules a2a3-fixed-drain
      pto-tune rules ascend950pr --pto-isa 2026-07-20
      pto-tune rules a2a3 --slots 5,7,8 --tiles 40
    """
    found = _chosen(name, pto_isa)
    if slots is None:
        credits.only_with_slots(tiles, kind, period)
        if len(found) == 1:
            _show_one(found[0], as_json)
        else:
            _show_all(found, as_json, in_full=name is not None)
        return
    rows = credits.rows(found, options.whole_numbers(slots, "--slots", MAX_NUMBER), tiles, kind, period)
    if as_json:
        output.as_json(rows)
    else:
        credits.show(rows)


def _chosen(name: str | None, pto_isa: str | None) -> tuple[RuleSet, ...]:
    """The rule sets that are meant. A name of both a family and a rule set is the family.

    ValueError names what there is.
    """
    from pto_tune.rule_sets import rule_set_for, rule_sets

    families = rule_words.families()
    family = families.get(name or "")
    if pto_isa is not None:
        if family is None:
            what = "a rule set by itself" if name in rule_words.owners() else "no family" if name else "missing"
            raise ValueError(
                f"--pto-isa asks for the rule set of a family, and the name is {what}: write for example "
                f"'pto-tune rules a5 --pto-isa {pto_isa}'"
            )
        return (rule_set_for(family, pto_isa),)
    if name is None:
        return tuple(r for f in dict.fromkeys(families.values()) for r in rule_sets(f))
    if family is not None:
        return rule_sets(family)
    owner = rule_words.owners().get(name)
    if owner is None:
        raise ValueError(rule_words.unknown(name))
    return (rule_set_for(owner, name),)


def _show_all(found: Sequence[RuleSet], as_json: bool, in_full: bool) -> None:
    """Families with their rule sets; `in_full`: and with their directions."""
    if as_json:
        output.as_json([_plain(r) for r in found])
        return
    for at, family in enumerate(dict.fromkeys(r.family for r in found)):
        if at:
            output.say()
        _family(family, [r for r in found if r.family == family])
        if in_full:
            output.say()
            _facts(rule_words.family_facts(found[0]))
            _directions(found[0])


def _family(family: str, found: Sequence[RuleSet]) -> None:
    """A line for each rule set, and each in words."""
    default = rule_words.default_of(family)
    output.say(f"family {family}: {', '.join(rule_words.platforms_of(family))}")
    output.say()
    output.table(
        ["rule set", "SyncPeriod", "first wait", "construction", "destruction", "pto-isa revisions"],
        (
            [
                f"{r.name} *" if r.name == default.name else r.name,
                rule_words.PERIOD[r.period],
                rule_words.FIRST_WAIT[r.wait_from],
                rule_words.CREDITS[r.ctor_credits],
                rule_words.DRAIN[r.drain],
                "; ".join(map(str, r.revisions)),
            ]
            for r in found
        ),
    )
    output.say()
    for r in found:
        output.say(f"{r.name}: {r.doc}")
    output.say()
    output.say(f"* without --pto-isa; {rule_words.newest_sentence(default)}")
    output.say(
        "SyncPeriod: slots that one credit stands for; first wait: the first tile that may wait for space; "
        "construction: credits sent; destruction: credits waited for"
    )


def _show_one(r: RuleSet, as_json: bool) -> None:
    if as_json:
        output.as_json(_plain(r))
        return
    output.say(f"{r.name}, family {r.family} ({', '.join(rule_words.platforms_of(r.family))}): {r.doc}")
    output.say()
    _facts(rule_words.facts(r))
    _facts(rule_words.family_facts(r))
    _directions(r)


def _facts(facts: Iterable[tuple[str, str]]) -> None:
    for what, words in facts:
        output.say(f"{what:<14}  {words}")


def _directions(r: RuleSet) -> None:
    """The table of directions, and what makes some of them useless or dangerous."""
    output.heading("Directions (F: FlagID)")
    output.table(
        ["direction", "tiles", "ring", "flag ids", "GlobalData", "data set", "waited for", "free set", "waited for",
         "TFREE"],
        (line for d in r.directions.values() for line in _lines(r, d)),
        right=["flag ids"],
    )  # fmt: skip
    output.say()
    output.say(
        "set: the flag, and the pipe behind whose work it leaves; waited for: by that pipe alone, or by the scalar "
        "process of the core, which holds up everything behind it; TFREE: of a tile, " + rule_words.TFREE[r.tile_tfree]
    )
    for d in r.directions.values():
        for note in rule_words.notes(d):
            output.say(f"{d.name}: {note}")


def _lines(r: RuleSet, d: Direction) -> list[list[object]]:
    """The rows of a direction: one for each way."""
    if d.refused:
        return [[d.name, "refused", *[text.NOTHING] * 8]]
    return [
        [
            d.name,
            way,
            uses.ring,
            d.flag_ids,
            "yes" if d.global_data else "no",
            *(rule_words.flag(way, what, use) for what, use in rule_words.uses(uses)),
            rule_words.tile_tfree(r, uses),
        ]
        for way, uses in d.ways.items()
    ]


def _plain(r: RuleSet) -> dict[str, Any]:
    return {
        "name": r.name,
        "family": r.family,
        "default": r.name == rule_words.default_of(r.family).name,
        "newest": r.name in {n.name for n in rule_words.newest(r.family)},
        "doc": r.doc,
        "period": r.period,
        "wait_from": r.wait_from,
        "ctor_credits": r.ctor_credits,
        "drain": r.drain,
        "local_no_split": r.local_no_split,
        "revisions": [_plain_revisions(v) for v in r.revisions],
        "platforms": rule_words.platforms_of(r.family),
        "counter_max": r.counter_max or None,
        "flag_ids": r.flag_ids,
        "reach": r.reach,
        "tile_tfree": r.tile_tfree,
        "local_stride": r.local_stride,
        "split_of_config": r.split_of_config,
        "directions": [_plain_direction(r, d) for d in r.directions.values()],
    }


def _plain_revisions(v: Revisions) -> dict[str, str | None]:
    return {"from": v.first, "from_date": v.first_date, "until": v.until, "until_date": v.until_date}


def _plain_direction(r: RuleSet, d: Direction) -> dict[str, Any]:
    return {
        "name": d.name,
        "refused": d.refused,
        "flag_ids": d.flag_ids,
        "global_data": d.global_data,
        "one_ring": d.one_ring,
        "notes": rule_words.notes(d),
        "ways": {
            way: {
                "ring": uses.ring,
                "tile_tfree": rule_words.tile_tfree(r, uses),
                **{what: {"pipe": use.pipe, "flag": use.flag} for what, use in rule_words.uses(uses)},
            }
            for way, uses in d.ways.items()
        },
    }
