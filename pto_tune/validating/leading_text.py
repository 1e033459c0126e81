"""What could explain the errors of tables, as sentences and as the cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from pto_tune.validating.leading import LEAST_CUT, CaseLead, Lead, Leading, TableLead

NOTHING = "-"
NO_HELP = f"no number inside its range closes the error by more than {100 * LEAST_CUT:.0f} %: the model lacks something"
LEADING_TITLES = ["table", "number", "kind", "cuts", "is", "would be", "unit", "of its interval", "range"]
SWING_TITLES = ["case", "log error", "numbers that could close it"]
_NAMED = 3
_FEW = 4


def sentences(found: Leading) -> list[str]:
    """By table a line, and below it a line for each number that helps most, three at most; then all tables."""
    if found.overall is None:
        return ["No case has an error of a time to explain.", *_left_out(found)]
    out = []
    for table in _tables(found):
        fitted = f", {table.fitted} of them fitted to" if table.fitted else ""
        out.append(
            f"{table.table}: {table.cases} times{fitted}, log error {table.rms:.2g} rms, "
            f"{_percent(table.heaviest_share)} of its square by {table.heaviest}{_few(table)}"
        )
        out += [f"  {sentence(table, lead)}" for lead in table.helping[:_NAMED]] or [f"  {NO_HELP}"]
    return [*out, *_left_out(found)]


def sentence(table: TableLead, lead: Lead) -> str:
    """What a number would do for the error of a table, without a full stop."""
    limits = f"{_range_name(lead)} {_short(lead.low)} to {_short(lead.high)}"
    place = f"{'inside' if lead.inside else 'outside'} {limits}"
    says = (
        f"{_number(table, lead)} would cut the squared error by {_percent(lead.cut)} at {_short(lead.at)} instead of "
        f"{_short(lead.value)} {lead.unit}, "
    )
    if lead.wanted == lead.at:
        return f"{says}{place}"
    if not isfinite(lead.wanted):
        return f"{says}the end of its 90 % interval; it would do most far outside {limits}"
    return f"{says}the end of its 90 % interval; it would do most at about {_short(lead.wanted)}, {place}"


def leading_rows(found: Leading) -> list[list[str]]:
    """The numbers that help most (`LEADING_TITLES`), up to three a table, or that none does."""
    rows = []
    for table in _tables(found):
        for lead in table.helping[:_NAMED]:
            beyond = "" if lead.wanted == lead.at else ", or beyond" if lead.inside else ", or outside its range"
            rows.append(
                [
                    table.table,
                    f"{lead.key}{_of(table, lead)}",
                    lead.kind,
                    _percent(lead.cut),
                    _short(lead.value),
                    f"{_short(lead.at)}{beyond}",
                    lead.unit,
                    _percent(lead.moved),
                    f"{_short(lead.low)} to {_short(lead.high)}{'' if lead.stated else ' (by kind)'}",
                ]
            )
        if not table.helping:
            rows.append([table.table, NO_HELP, *[NOTHING] * (len(LEADING_TITLES) - 2)])
    return rows


def swing_rows(cases: Sequence[CaseLead]) -> list[list[str]]:
    """The numbers that could close most of the error of each case (`SWING_TITLES`), and how far."""
    return [
        [c.case, f"{c.error:+.3f}", ", ".join(f"{key} {swing:.3f}" for key, swing in c.swings) or "none"] for c in cases
    ]


def explanation(found: Leading) -> str:
    """What stands in the columns of `leading_rows`, and what was left out."""
    return " ".join(
        [
            "Which number of the platforms, moved alone inside its 90 % interval, would cut most of a table's squared "
            "log errors, by how much, and how much of that side of its interval it needs; a diagnosis: nothing is "
            "fitted. Fewer than four cases tell numbers hardly apart.",
            *_left_out(found),
        ]
    )


def _tables(found: Leading) -> tuple[TableLead, ...]:
    if found.overall is None or len(found.tables) == 1:
        return found.tables
    return (*found.tables, found.overall)


def _few(table: TableLead) -> str:
    # one unknown goes through one point, and nearly so through two
    return "; so few times tell numbers hardly apart" if table.cases < _FEW else ""


def _left_out(found: Leading) -> list[str]:
    if not found.left_out:
        return []
    return [f"Not looked at, as running them with every number moved takes long (--all): {', '.join(found.left_out)}."]


def _range_name(lead: Lead) -> str:
    if not lead.stated:
        return f"the range of {lead.kind} numbers"
    return "its assumed range" if lead.kind == "assumed" else "its published range"


def _number(table: TableLead, lead: Lead) -> str:
    return f"{lead.key} ({lead.kind}{_of(table, lead, ', ')})"


def _of(table: TableLead, lead: Lead, before: str = " of ") -> str:
    """The platforms that have the number, where the table has others too."""
    return "" if set(lead.platforms) == set(table.platforms) else before + ", ".join(lead.platforms)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if isfinite(share) else NOTHING


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
