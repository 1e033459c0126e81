"""How an exported configuration ranks today."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune import api
from pto_tune.evaluation import evaluate_columns
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.formats import format_named, write
from pto_tune.exporters.ranking import Ranking, rank
from pto_tune.exporters.reading import ReadBack, read_back
from pto_tune.space import space
from pto_tune.workloads import workload

PLATFORM = load_platform("ascend910b2")
STREAM = workload("stream")
SIZES = {"tiles": 64}

Exported = Callable[..., Path]


@pytest.fixture
def exported(tmp_path: Path) -> Exported:
    def made(key: str = "header", name: str = "stream", pto_isa: str | None = None, **values: Any) -> Path:
        form = format_named(key)
        given = {**(SIZES if name == "stream" else {}), **values}
        rec = api.recommendation(name, given, PLATFORM, pto_isa, run="first")
        return write(form, [rec], tmp_path / f"x{form.suffix}", force=True)

    return made


def ranked(path: Path, **options: Any) -> Ranking:
    (read,) = read_back(path)
    return rank(read, STREAM, PLATFORM, **options)


def edit(path: Path, *changes: tuple[str, str]) -> Path:
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("depth", [1, 2, 8])
@pytest.mark.parametrize("key", ["header", "cmake", "json"])
def test_the_place_is_that_among_all_configurations(key: str, depth: int, exported: Exported) -> None:
    found = ranked(exported(key, fifo_depth=depth))
    whole = space(STREAM, SIZES)
    e = evaluate_columns(api.problem_of("stream"), whole.table(np.arange(whole.size)))
    own = api.evaluate("stream", {**SIZES, "fifo_depth": depth}).cycles[0]
    ok = np.asarray(e.verdict) == 0
    assert (found.verdict, found.looked_at, found.candidates, found.sampled) == ("ok", whole.size, whole.size, False)
    assert found.legal == ok.sum()
    assert found.faster == (ok & (e.cycles < own)).sum()
    assert found.place == found.faster + 1
    assert found.time_us == pytest.approx(found.then_us, abs=5e-4)
    assert found.best_us == pytest.approx(np.nanmin(e.time_us[ok]))
    assert found.slower_by == pytest.approx(found.time_us / found.best_us - 1)
    assert found.changes == found.differs == ()
    assert found.configuration["fifo_depth"] == depth


def test_a_value_outside_of_the_domain_is_looked_at_too(exported: Exported) -> None:
    whole = space(STREAM, SIZES)
    assert 3 not in dict(whole.domains)["local_slot_num"]
    found = ranked(exported(local_slot_num=3))
    assert found.candidates > whole.size
    assert found.verdict == "ok"


def test_constants_that_were_changed_together_are_ranked_as_they_are(exported: Exported) -> None:
    path = edit(exported(fifo_depth=8), ("C2v_FifoDepth = 8", "C2v_FifoDepth = 2"),
                ("C2v_SyncPeriod = 4", "C2v_SyncPeriod = 2"))  # fmt: skip
    found = ranked(path)
    assert found.configuration["fifo_depth"] == 2
    assert found.changes == ("the file was changed by hand since pto-tune wrote it",)
    assert "C2v_FifoDepth is 2, and 8 by its tunables" in found.differs
    assert found.time_us == pytest.approx(api.evaluate("stream", {**SIZES, "fifo_depth": 2}).time_us[0])


def test_a_change_that_is_not_safe_is_said(exported: Exported) -> None:
    path = edit(exported(fifo_depth=8), ("C2v_FifoDepth = 8", "C2v_FifoDepth = 5"),
                ("C2v_SyncPeriod = 4", "C2v_SyncPeriod = 2"))  # fmt: skip
    found = ranked(path)
    assert found.verdict == "overwrite"
    assert found.reason
    assert found.place is None
    assert found.slower_by is None


@pytest.mark.parametrize("change", [("C2v_SlotSize = ", "C2v_SlotSize = 1"), ("C2v_FlagID = 0", "C2v_FlagID = 4")])
def test_constants_that_no_configuration_has_are_refused(change: tuple[str, str], exported: Exported) -> None:
    with pytest.raises(ExportError, match=r"no configuration of stream has its constants.*C2v_(SlotSize|FlagID)"):
        ranked(edit(exported(), change))


def test_a_period_that_the_rules_do_not_derive_is_ranked_as_what_it_would_take(exported: Exported) -> None:
    found = ranked(edit(exported(fifo_depth=8), ("C2v_SyncPeriod = 4", "C2v_SyncPeriod = 2")))
    assert found.configuration["sync_period"] == 2


def test_other_numbers_of_the_platform_are_said(exported: Exported) -> None:
    (read,) = read_back(exported())
    other = load_platform("ascend910b2", overrides={"clock.core_mhz": 1000.0})
    found = rank(read, STREAM, other)
    assert len(found.changes) == 1
    assert "has other numbers now" in found.changes[0]
    assert found.time_us is not None
    assert found.time_us > found.then_us


def test_the_rule_set_is_the_files(exported: Exported) -> None:
    assert ranked(exported(pto_isa="a2a3-rendezvous")).rule_set == "a2a3-rendezvous"
    assert ranked(exported(pto_isa="2026-06-01")).rule_set == "a2a3-full-period"


def test_a_sample_is_said_to_be_one_and_is_the_same_by_seed(exported: Exported) -> None:
    path = exported()
    first, second = ranked(path, most=50, seed=1), ranked(path, most=50, seed=1)
    assert first == second
    assert first.sampled
    assert first.looked_at == 50
    assert first.legal <= 50


def test_progress_ends_at_the_whole(exported: Exported) -> None:
    seen: list[tuple[int, int]] = []
    found = ranked(exported(), progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (found.looked_at, found.looked_at)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tunables": {"nothing": "1"}}, "nothing is no problem size or tunable"),
        ({"problem": {"tiles": "many"}}, "'many' is not a value"),
        ({"tunables": {"fifo_depth": "0"}}, "fifo_depth = 0 is out of range"),
    ],
)
def test_what_the_workload_does_not_know_is_refused(changes: Any, words: str, exported: Exported) -> None:
    (read,) = read_back(exported())
    changed: ReadBack = replace(read, **changes)
    with pytest.raises(ExportError, match=words):
        rank(changed, STREAM, PLATFORM)


def test_names_that_came_later_take_their_defaults(exported: Exported) -> None:
    (read,) = read_back(exported())
    old = replace(read, tunables={n: v for n, v in read.tunables.items() if n != "fifo_depth"})
    assert "the workload has new names, which take their defaults: fifo_depth" in rank(old, STREAM, PLATFORM).changes


def test_labels_are_read_as_labels(exported: Exported) -> None:
    (read,) = read_back(exported(name="tput_pingpong"))
    found = rank(read, workload("tput_pingpong"), PLATFORM, most=8)
    assert found.configuration["ping_pong"] == read.tunables["ping_pong"] in ("off", "on")
    assert found.verdict == "ok"
