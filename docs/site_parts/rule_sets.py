"""The page of rule sets: what the headers of each revision make of a pipe, from `pto_tune.rule_sets`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from site_parts.markdown import code, prose, table

if TYPE_CHECKING:
    from pto_tune.rule_sets import Direction, RuleSet


def all_sets() -> dict[str, tuple[RuleSet, ...]]:
    """The rule sets of every family."""
    from pto_tune.cli import rule_words
    from pto_tune.rule_sets import rule_sets

    return {family: rule_sets(family) for family in dict.fromkeys(rule_words.families().values())}


def page() -> str:
    """A section for each family, one for each of its rule sets."""
    from pto_tune.cli import rule_words

    parts = []
    for family, sets in all_sets().items():
        default = rule_words.default_of(family)
        chips = ", ".join(map(code, rule_words.platforms_of(family)))
        parts += [
            f"## Family `{family}` {{ #family-{family} }}",
            f"Platforms: {chips}. Without `--pto-isa` the rule set is [`{default.name}`](#{default.name}); "
            f"{prose(rule_words.newest_sentence(default))}.",
            table(
                ("rule set", "SyncPeriod", "first wait", "at construction", "at destruction", "pto-isa"),
                (_line(r) for r in sets),
            ),
            "All of them have in common:",
            table(("what", "how"), ((prose(what), prose(words)) for what, words in rule_words.family_facts(default))),
            f"### Directions of `{family}` {{ #directions-{family} }}",
            "F is the FlagID of the pipe. A flag is set behind the work of the pipe that is named, and waited for by "
            "that pipe alone, or by the scalar process, which holds the whole core.",
            table(
                ("direction", "tiles", "ring", "flag ids", "GlobalData", "data set", "waited for", "free set",
                 "waited for", "TFREE of a tile"),
                (row for d in default.directions.values() for row in _ways(default, d)),
                right=["flag ids"],
            ),
        ]  # fmt: skip
        notes = [f"- {code(d.name)}: {prose(n)}" for d in default.directions.values() for n in rule_words.notes(d)]
        parts.append("\n".join(notes))
        for r in sets:
            parts.append(f"### `{r.name}` {{ #{r.name} }}")
            parts.append(f"{prose(r.doc[:1].upper() + r.doc[1:])}.")
            parts.append(table(("what", "how"), ((prose(w), prose(words)) for w, words in rule_words.facts(r))))
    return "\n\n".join(part for part in parts if part)


def _line(r: RuleSet) -> tuple[str, ...]:
    from pto_tune.cli import rule_words

    return (
        f"[`{r.name}`](#{r.name})",
        rule_words.PERIOD[r.period],
        rule_words.FIRST_WAIT[r.wait_from],
        f"{rule_words.CREDITS[r.ctor_credits]} sent",
        f"waits for {rule_words.DRAIN[r.drain]}",
        prose("; ".join(map(str, r.revisions))),
    )


def _ways(r: RuleSet, d: Direction) -> Iterator[tuple[str, ...]]:
    from pto_tune.cli import rule_words

    if d.refused:
        yield (code(d.name), "refused", *["–"] * 8)
        return
    for way, uses in d.ways.items():
        flags = (prose(rule_words.flag(way, what, use)) for what, use in rule_words.uses(uses))
        yield (
            code(d.name), way, uses.ring, str(d.flag_ids), "yes" if d.global_data else "no", *flags,
            rule_words.tile_tfree(r, uses),
        )  # fmt: skip
