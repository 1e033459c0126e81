"""`pto-tune rules`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cost_models.platform import load_platform, platform_names
from pto_tune import api
from pto_tune.cli import rule_words
from pto_tune.model.expr import expr
from pto_tune.rule_sets import RuleSet, rule_set_for, rule_sets
from pto_tune.workloads import workload

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

FAMILIES = ("a2a3", "a5")
PLATFORM = {"a2a3": "ascend910b2", "a5": "ascend950pr"}
SETS = [r for family in FAMILIES for r in rule_sets(family)]


def lines_of(shown: str, first: str) -> list[list[str]]:
    """The words of the lines that begin with a word."""
    return [line.split() for line in shown.splitlines() if line.split()[:1] == [first]]


def test_there_are_the_families_of_the_platforms() -> None:
    assert {load_platform(name).family for name in platform_names()} == set(FAMILIES)


def test_without_a_name_all_rule_sets_are_listed_with_their_revisions(cli: Cli) -> None:
    shown = cli("rules")
    assert (shown.exit_code, shown.stderr) == (0, "")
    for r in SETS:
        assert f"{r.name}: {r.doc}" in shown.stdout
        ((_, *words),) = lines_of(shown.stdout, r.name)
        assert "; ".join(map(str, r.revisions)) in " ".join(words)
    for name in platform_names():
        assert name in shown.stdout


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_says_what_is_used_without_a_revision_and_what_the_newest_headers_do(family: str, cli: Cli) -> None:
    shown = cli("rules", family).stdout
    default = rule_set_for(family)
    (marked,) = [line for line in shown.splitlines() if line.split()[1:2] == ["*"]]
    assert marked.split()[0] == default.name
    newest = rule_set_for(family, "2099-01-01")
    assert ("the newest headers behave so" in shown) == (newest.name == default.name)
    assert (f"--pto-isa {newest.name}" in shown) == (newest.name != default.name)
    other = next(f for f in FAMILIES if f != family)
    assert f"family {other}" not in shown
    assert cli("rules", PLATFORM[family]).stdout == shown


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_of_directions_has_every_flag(family: str, cli: Cli) -> None:
    shown = cli("rules", family).stdout
    r = rule_set_for(family)
    for direction in r.directions.values():
        rows = [words for words in lines_of(shown, direction.name) if words[1] in (*direction.ways, "refused")]
        if direction.refused:
            assert f"{direction.name}: refused: {direction.refused}" in shown
            assert rows[0][1] == "refused"
            continue
        assert [row[1] for row in rows] == list(direction.ways)
        for row, (way, uses) in zip(rows, direction.ways.items(), strict=True):
            assert row[2] == uses.ring
            assert str(direction.flag_ids) in row
            assert ("yes" if direction.global_data else "no") in row
            cores = ("AIC", "AIV") if way == "C2V" else ("AIV", "AIC")
            given, taken = cores[0], cores[1]
            said = " ".join(row)
            for core, use in (
                (given, uses.record),
                (taken, uses.ready_wait),
                (taken, uses.free),
                (given, uses.free_wait),
            ):
                pipe = f"{core} (whole core)" if use.pipe == "S" else f"{core}.{use.pipe}"
                assert f"F{f'+{use.flag}' if use.flag else ''} {pipe}" in said


def test_who_waits_and_what_frees_differ_between_the_families(cli: Cli) -> None:
    a2a3, a5 = (cli("rules", family).stdout for family in FAMILIES)
    assert "(whole core)" in a2a3
    assert "(whole core)" not in a5
    assert {words[-1] for words in lines_of(a2a3, "BOTH")} == {"nothing"}
    assert {words[-1] for words in lines_of(a5, "BOTH")} == {"frees"}
    assert [words[-2:] for words in lines_of(a5, "C2V_GM")] == [["frees", "twice"]]
    assert "frees twice where TPOP has freed already (rings in GM): overwrite" in a5
    assert "at most 15 signals outstanding" in a2a3
    assert "its width is not stated" in a5


def test_what_is_said_of_directions_is_what_evaluating_them_shows(cli: Cli) -> None:
    shown = cli("rules", "a5").stdout
    assert "V2C_GM: the free signal of V2C leaves on MTE1 and not behind the load on MTE2: race" in shown
    (record,) = api.evaluate_records("stream", {"direction": "V2C"}, platform="ascend950pr")  # GlobalData: V2C_GM
    assert record["verdict"] == "race"
    assert "BOTH_GM: AIV waits for flag F+1 and AIC sets F: hang" in shown
    assert "BOTH: the GlobalData calls put the rings of both ways on the same slots" in cli("rules", "a2a3").stdout
    # the other GM direction is sound
    assert not [line for line in shown.splitlines() if line.startswith("C2V_GM: ")]
    (record,) = api.evaluate_records("stream", {"direction": "C2V"}, platform="ascend950pr")
    assert record["verdict"] == "ok"


@pytest.mark.parametrize("r", [r for r in SETS if r.name not in FAMILIES], ids=lambda r: r.name)
def test_a_rule_set_is_shown_in_words(r: RuleSet, cli: Cli) -> None:
    shown = cli("rules", r.name).stdout
    assert r.doc in shown.splitlines()[0]
    assert "Directions" in shown
    assert ("the consumer sends SyncPeriod credits" in shown) == (r.ctor_credits == "period")
    assert ("the producer waits SyncPeriod times" in shown) == (r.drain == "period")
    assert ("with IsNoSplit" in shown) == r.local_no_split
    for other in rule_sets(r.family):
        assert other.name == r.name or f"{other.name}: " not in shown


@pytest.mark.parametrize(
    ("family", "revision", "name"),
    [
        ("a5", "2026-07-20", "a5-ctor-credits"),
        ("ascend950dt", "2026-09-01", "a5-local-drain"),
        ("a2a3", "d2b30a84", "a2a3-fixed-drain"),
        ("a2a3", "a2a3", "a2a3"),
    ],
)
def test_a_revision_is_looked_up(family: str, revision: str, name: str, cli: Cli) -> None:
    assert cli("rules", family, "--pto-isa", revision).stdout.startswith(f"{name}, family ")
    assert json.loads(cli("rules", family, "--pto-isa", revision, "--json").stdout)["name"] == name


def test_json_has_the_rule_sets_as_the_library_has_them(cli: Cli) -> None:
    listed = json.loads(cli("rules", "--json").stdout)
    assert [r["name"] for r in listed] == [r.name for r in SETS]
    assert [r["name"] for r in listed if r["default"]] == ["a2a3", "a5"]
    assert [r["name"] for r in listed if r["newest"]] == ["a2a3", "a5-local-drain"]
    one = json.loads(cli("rules", "a5-local-drain", "--json").stdout)
    assert one == next(r for r in listed if r["name"] == "a5-local-drain")
    library = rule_set_for("a5", "a5-local-drain")
    assert one["local_no_split"] is True
    assert one["revisions"] == [{"from": "PR#274", "from_date": "2026-08-27", "until": None, "until_date": None}]
    for found, direction in zip(one["directions"], library.directions.values(), strict=True):
        assert found["name"] == direction.name
        for way, uses in direction.ways.items():
            flags = dict(rule_words.uses(uses))
            assert {k: (v["pipe"], v["flag"]) for k, v in found["ways"][way].items() if k in flags} == {
                k: (use.pipe, use.flag) for k, use in flags.items()
            }


def test_credits_are_those_of_the_published_example(cli: Cli) -> None:
    """SlotNum 8 and 40 tiles under the fixed drain: four waits at destruction and two credits (pto-isa#248)."""
    (row,) = json.loads(cli("rules", "a2a3-fixed-drain", "--slots", "8", "--tiles", "40", "--json").stdout)
    assert (row["notified"], row["waited"], row["drained"], row["left"]) == (10, 8, 4, -2)
    assert row["verdict"] == "hang"
    assert row["why"] == ["the destructor waits for 2 credits that nobody sends"]


@pytest.mark.parametrize("r", SETS, ids=lambda r: r.name)
def test_verdicts_of_the_counts_are_those_of_evaluating_a_stream(r: RuleSet, cli: Cli) -> None:
    slots, tiles = (1, 2, 3, 5, 8, 9, 16), (1, 5, 8, 40, 41)
    family = json.loads(
        "[" + ",".join(
            cli("rules", r.family, "--slots", ",".join(map(str, slots)), "--tiles", n, "--json").stdout for n in tiles
        ) + "]"
    )  # fmt: skip
    counted = [row for rows in family for row in rows if row["rule_set"] == r.name and not row["local_no_split"]]
    assert len(counted) == len(slots) * len(tiles)
    table = [{"fifo_depth": c["slot_num"], "tiles": c["tiles"], "slot_bytes": 1024} for c in counted]
    found = api.evaluate_records("stream", table, platform=PLATFORM[r.family], pto_isa=r.name, accounts=False)
    assert [c["verdict"] for c in counted] == [f["verdict"] for f in found]


def test_local_rings_with_no_split_are_counted_apart_where_they_differ(cli: Cli) -> None:
    gm, local = json.loads(cli("rules", "a5-local-drain", "--slots", "8", "--tiles", "40", "--json").stdout)
    assert (gm["local_no_split"], gm["verdict"]) == (False, "overwrite")
    assert (local["local_no_split"], local["verdict"]) == (True, "ok")
    configuration = {"flow": "TileData", "split": "NO_SPLIT", "second_sub_core": "off", "slot_bytes": 1024, "tiles": 40}
    (record,) = api.evaluate_records("stream", configuration, platform="ascend950pr", pto_isa="a5-local-drain")
    assert record["verdict"] == local["verdict"]


def test_a_tmpipe_has_one_credit_and_a_gated_one_a_period_of_its_own(cli: Cli) -> None:
    def evaluated(gated: int) -> Any:
        """The stream through a TMPipe whose kernel leaves the constructor's credit where it is."""
        model = workload("stream")
        fifos = tuple(replace(f, kind="TMPipe", gated=expr(gated)) for f in model.fifos)
        table = {"fifo_depth": 8, "sync_period": 2 * gated, "slot_bytes": 1024}
        (record,) = api.evaluate_records(replace(model, fifos=fifos), table, pto_isa="a2a3-fixed-drain")
        return record

    (plain,) = json.loads(cli("rules", "a2a3-fixed-drain", "--slots", "8", "--kind", "TMPipe", "--json").stdout)
    assert (plain["sync_period"], plain["in_flight"], plain["constructed"], plain["drained"]) == (1, 1, 1, 1)
    (gated,) = json.loads(
        cli("rules", "a2a3-fixed-drain", "--slots", "8", "--kind", "GATED", "--period", "2", "--json").stdout
    )
    # the constructor's credit lets the producer run a period ahead
    assert (gated["pipe"], gated["sync_period"], gated["in_flight"]) == ("gated TMPipe", 2, 10)
    assert (plain["verdict"], gated["verdict"]) == ("ok", "overwrite")
    assert [evaluated(g)["verdict"] for g in (0, 1)] == [plain["verdict"], gated["verdict"]]
    assert "10 tiles in flight, 8 slots" in evaluated(1)["reason"]


def test_counts_are_a_table_with_a_line_for_each_rule_set_and_depth(cli: Cli) -> None:
    shown = cli("rules", "a2a3", "--slots", "5,8", "--tiles", "40").stdout
    for r in rule_sets("a2a3"):
        assert [words[1] for words in lines_of(shown, r.name)] == ["5", "8"]
    assert "6 tiles in flight, 5 slots" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a6"], ["'a6'", "a2a3, a5", "a5-local-drain"]),
        (["a5-local-drian"], ["did you mean 'a5-local-drain'"]),
        (["C2V"], ["'C2V'", "families are"]),
        (["--pto-isa", "2026-07-20"], ["--pto-isa", "missing"]),
        (["a5-rendezvous", "--pto-isa", "2026-07-20"], ["a rule set by itself"]),
        (["a7", "--pto-isa", "2026-07-20"], ["no family"]),
        (["a5", "--pto-isa", "a2a3"], ["'a2a3'", "a5-rendezvous"]),
        (["--slots", ""], ["--slots ''"]),
        (["--slots", "0"], ["'0'", "from 1"]),
        (["--slots", "4,-1,x,٤,1_0"], ["'-1', 'x', '٤', '1_0'"]),
        (["--slots", "9" * 30], ["from 1 to 2147483648"]),
        (["--tiles", "9"], ["--tiles", "--slots"]),
        (["--kind", "TMPipe", "--period", "2"], ["--kind and --period", "--slots"]),
        (["--slots", "4", "--kind", "pipe"], ["'pipe'", "TMPipe"]),
        (["--slots", "4", "--period", "2"], ["--period 2", "gated"]),
        (["--slots", "4", "--tiles", "-1"], ["--tiles"]),
    ],
)
def test_wrong_input_is_one_sentence(arguments: list[str], words: list[str], cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("rules", *arguments))
    for word in words:
        assert word in said


def test_no_tiles_and_many_tiles_are_counted(cli: Cli) -> None:
    (none,) = json.loads(cli("rules", "a2a3-rendezvous", "--slots", "8", "--tiles", "0", "--json").stdout)
    assert (none["in_flight"], none["left"], none["verdict"]) == (0, 0, "ok")
    (many,) = json.loads(
        cli("rules", "a2a3-rendezvous", "--slots", "2147483648", "--tiles", "2147483648", "--json").stdout
    )
    assert many["notified"] == 2**31
