"""Tuning from end to end: the answer, what the store keeps, stopping, going on."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pto_tune
from cost_models import load_platform
from db import Store, StoreError, open_store
from pto_tune import evaluation, verdicts
from pto_tune.evaluation import Evaluation, evaluate_columns
from pto_tune.search import proposers
from pto_tune.search.samplers import OptunaRows
from pto_tune.search.spec import versions
from pto_tune.table import TableError
from pto_tune.tuning import Progress, SearchError, TuneResult, resume, tune
from pto_tune.workloads import workload

# two whole slots of 128 KiB are more than UB has: NO_SPLIT is refused
SIZES: dict[str, int | str] = {"direction": "V2C", "slot_bytes": 2**17, "tiles": 24, "producer_cycles": 100}
SIZE = 135
HOPELESS: dict[str, Any] = {"problem": {"slot_bytes": 2**20}}


def small(**options: Any) -> TuneResult:
    return tune("stream", **{"problem": SIZES, **options})


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'results.db'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


def stop_at(done: int) -> Callable[[Progress], None]:
    """A progress callback that is interrupted once so many configurations are done."""

    def progress(p: Progress) -> None:
        if p.done >= done:
            raise KeyboardInterrupt

    return progress


def same(one: TuneResult, other: TuneResult) -> bool:
    return (
        one.top == other.top
        and one.front.equals(other.front)
        and one.counts == other.counts
        and one.n_evaluated == other.n_evaluated
    )


# The answer


def test_the_answer_is_that_of_trying_everything() -> None:
    found = small(top=1000)
    e = evaluate_columns(found.problem, found.space.table(np.arange(SIZE)))
    assert (found.strategy, found.n_candidates, found.n_evaluated) == ("exhaustive", SIZE, SIZE)
    assert found.counts == e.counts()
    assert set(found.counts) == {"ok", "refused", "overwrite"}
    memory = np.sum([e.bytes[m] for m in ("UB", "L1", "L0A", "L0B", "L0C")], axis=0)
    ok = np.flatnonzero(e.verdict == verdicts.OK)
    order = sorted(ok, key=lambda i: (e.cycles[i], not e.derived_period[i], memory[i], e.bytes["GM_ring"][i], i))
    table = found.table
    assert table["row"].tolist() == order
    assert table["cycles"].tolist() == e.cycles[order].tolist()
    assert table["time_us"].tolist() == e.time_us[order].tolist()
    assert table["bound"].tolist() == [e.bound_names()[i] for i in order]
    assert table["cube_utilisation"].tolist() == e.utilisation("M")[order].tolist()
    assert np.allclose(table["vector_utilisation"], e.utilisation("V")[order], rtol=1e-15)
    assert table["on_chip_bytes"].tolist() == memory[order].tolist()
    assert table["exportable"].tolist() == e.derived_period[order].tolist()
    for name, column in e.bytes.items():
        assert table[name].tolist() == column[order].tolist()


def test_the_best_is_plain_data_that_names_every_size_and_tunable() -> None:
    best = small().best
    assert best is not None
    names = [p.name for p in workload("stream").problem] + [t.name for t in workload("stream").tunables]
    assert list(best["configuration"]) == names
    assert best["configuration"]["direction"] == "V2C"
    assert best["configuration"]["split"] in ("UP_DOWN", "LEFT_RIGHT")
    assert best["bytes"].keys() == {"UB", "L1", "L0A", "L0B", "L0C", "GM_ring", "GM_traffic"}
    assert type(best["cycles"]) is int
    assert best["exportable"] is True
    assert small().table.iloc[0]["row"] == best["row"]


def test_the_list_is_as_long_as_asked_for() -> None:
    assert small(top=3).top == small(top=9).top[:3]


def test_the_front_starts_with_the_best_and_only_falls() -> None:
    found = small()
    front = found.front
    assert found.best is not None
    assert front["row"][0] == found.best["row"]
    assert front["time_us"].is_monotonic_increasing
    assert front["on_chip_bytes"].is_monotonic_decreasing


def test_a_workload_without_vector_cores_has_no_vector_utilisation() -> None:
    found = tune("gemm", problem={"m": 512, "k": 512, "n": 512}, domains={"grid_m": 1, "grid_n": 1})
    assert found.best is not None
    assert found.best["vector_utilisation"] is None
    assert 0 < found.best["cube_utilisation"] <= 1
    assert found.table["vector_utilisation"].isna().all()


def test_without_a_legal_configuration_there_is_no_best_and_the_counts_say_why(store: Store) -> None:
    found = tune("stream", store=store, **HOPELESS)
    assert found.best is None
    assert found.top == []
    assert len(found.table) == len(found.front) == 0
    assert list(found.counts) == ["refused"]
    assert sum(found.counts["refused"].values()) == SIZE
    assert found.run is not None
    assert (found.run.state, found.run.best_row, found.run.counts) == ("done", None, found.counts)


def test_wrong_requests_are_refused_before_anything_happens(url: str, evaluated_rows: list[int]) -> None:
    requests: list[tuple[dict[str, Any], str]] = [
        ({"platform": "ascend910b9"}, "unknown platform"),
        ({"domains": {"fifo_deph": [1]}}, "did you mean 'fifo_depth'"),
        ({"domains": {"fifo_depth": []}}, "the domain is empty"),
        ({"problem": {"tiles": -1}}, "out of range"),
        ({"strategy": "clever"}, "unknown strategy"),
        ({"timing": "guess"}, "unknown timing"),
        ({"top": 0}, "expected a number of configurations"),
        ({"pto_isa": "yesterday"}, "unknown pto-isa revision"),
    ]
    for wrong, error in requests:
        with pytest.raises(ValueError, match=error):
            small(store=url, **wrong)
    with pytest.raises(ValueError, match="unknown workload"):
        tune("steam", store=url)
    assert evaluated_rows == []
    assert not Path(url.removeprefix("sqlite:///")).exists()


# Budgets and progress


def test_a_budget_counts_configurations(evaluated_rows: list[int]) -> None:
    found = small(budget=60, strategy="tpe")
    assert (found.strategy, found.n_candidates, found.n_evaluated) == ("tpe", 60, 60)
    assert sum(evaluated_rows) == 60
    assert not found.stopped


def test_an_exhaustive_search_with_a_budget_looks_at_the_first_rows_and_says_so() -> None:
    found = small(strategy="exhaustive", budget=20, top=1000)
    assert found.n_evaluated == 20
    assert max(entry["row"] for entry in found.top) < 20
    assert found.message == f"looked at the first 20 of {SIZE} configurations, as the budget says"


def test_the_time_ends_a_search_between_batches(tens: None, store: Store) -> None:  # noqa: ARG001
    found = small(seconds=1e-6, store=store)
    assert found.n_evaluated == 10
    assert not found.stopped  # it ended as asked
    assert found.message == f"stopped after 1e-06 s, with 10 of {SIZE} configurations looked at"
    assert found.run is not None
    assert found.run.state == "stopped"


def test_progress_is_told_after_every_batch(tens: None) -> None:  # noqa: ARG001
    told: list[Progress] = []
    found = small(progress=told.append)
    assert found.best is not None
    assert [p.done for p in told] == [*range(10, SIZE, 10), SIZE]
    assert told[-1] == Progress(SIZE, SIZE, found.counts["ok"][""], found.best["time_us"], found.best["row"])


def test_nothing_is_evaluated_twice(tens: None, evaluated_rows: list[int], store: Store) -> None:  # noqa: ARG001
    small(store=store)
    assert sum(evaluated_rows) == SIZE


# Seeds


@pytest.mark.parametrize("strategy", ["tpe", "nsga2", "qmc", "random"])
def test_the_same_seed_gives_the_same_search(strategy: str, store: Store) -> None:
    one, other, third = (small(strategy=strategy, budget=55, seed=s, store=store) for s in (3, 3, 4))
    assert same(one, other)
    assert one.run is not None
    assert other.run is not None
    assert third.run is not None
    columns = [store.configurations(r.run.id, ["t0", "t1", "t3", "cycles"]) for r in (one, other, third)]  # type: ignore[union-attr]
    rows = [np.ma.stack(list(c.values())).filled(-1).tolist() for c in columns]
    assert rows[0] == rows[1] != rows[2]
    assert one.run.spec_sha256 == other.run.spec_sha256 != third.run.spec_sha256


# The store


def test_the_store_has_every_configuration_as_it_was_evaluated(tens: None, store: Store) -> None:  # noqa: ARG001
    found = small(store=store, name="first try", objectives=("time", "memory"), seed=9)
    run = store.find_run("first try")
    assert found.run == replace(run, heartbeat_age_s=found.run.heartbeat_age_s)  # type: ignore[union-attr]
    assert (run.state, run.n_candidates, run.n_evaluated, run.message) == ("done", SIZE, SIZE, "")
    assert (run.strategy, run.seed, run.objectives) == ("exhaustive", 9, ("time", "memory"))
    assert run.platform_sha256 == load_platform("ascend910b2").sha256
    assert run.problem["direction"] == "V2C"
    assert run.tunables[3] == {"name": "split", "domain": ["NO_SPLIT", "UP_DOWN", "LEFT_RIGHT"]}
    assert run.versions["pto-tune"] == pto_tune.__version__
    assert {"numpy", "numba", "optuna"} <= run.versions.keys()
    assert run.counts == found.counts
    assert found.best is not None
    assert (run.best_row, run.best_cycles) == (found.best["row"], found.best["cycles"])

    e = evaluate_columns(found.problem, found.space.table(np.arange(SIZE)))
    columns: dict[str, Any] = store.configurations(run.id)
    assert columns["row"].tolist() == list(range(SIZE))
    assert [run.verdicts[v] for v in columns["verdict"]] == [verdicts.VERDICTS[v] for v in e.verdict]
    stored = columns["rule"].filled(-1)
    assert [run.rules[r] if r >= 0 else "" for r in stored] == [e.rules[r] if r >= 0 else "" for r in e.rule]
    assert columns["cycles"].mask.tolist() == (~e.timed).tolist()
    assert columns["cycles"].compressed().tolist() == e.cycles[e.timed].tolist()
    assert [run.pipes[b] for b in columns["bound"].compressed()] == [e.bounds[b] for b in e.bound if b >= 0]
    assert run.clock_mhz == e.problem.clock_mhz
    assert run.launch_us == e.problem.launch_us


def test_the_best_configurations_have_stall_accounts(store: Store) -> None:
    found = small(store=store, top=4)
    assert found.run is not None
    accounts = store.accounts(found.run.id)
    assert {row for row, *_ in accounts} == {entry["row"] for entry in found.top}
    e = evaluate_columns(found.problem, found.space.table(np.arange(SIZE)))
    for row, kind, name, cycles in accounts:
        if kind == "busy":
            assert cycles == e.busy[row, found.problem.code.pipes.index(name)]
        else:
            assert cycles > 0
    assert {kind for _, kind, _, _ in accounts} == {"busy", "wait"}


def test_a_sampled_run_is_numbered_as_it_went(store: Store) -> None:
    found = small(strategy="qmc", budget=40, store=store)
    assert found.run is not None
    assert found.best is not None
    columns = store.configurations(found.run.id)
    assert columns["row"].tolist() == list(range(40))
    at = found.best["row"]
    chosen = {t["name"]: t["domain"][int(columns[f"t{i}"][at])] for i, t in enumerate(found.run.tunables)}
    assert chosen == {name: found.best["configuration"][name] for name in chosen}
    assert columns["cycles"][at] == found.best["cycles"]


def test_a_kernel_with_rules_of_one_name_is_kept(store: Store) -> None:
    # both matmuls of Flash Attention have a rule for their K
    domains: dict[str, Any] = {"cube_s0": 128, "cube_s1": [64, 128], "tile_s1": 256, "qk_preload": [2, 4]}
    found = tune("flash_attention", problem={"s0": 512, "s1": 512}, domains=domains, store=store)
    assert found.run is not None
    assert found.run.state == "done"
    assert found.run.counts == found.counts


def test_a_store_that_fails_leaves_the_batches_before(
    tens: None,  # noqa: ARG001
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = Store.add_configurations

    def full(self: Store, run_id: int, columns: Any, first_row: int, *rest: Any, **more: Any) -> None:
        if first_row == 30:
            raise StoreError("its disk is full: free some space and try again")
        original(self, run_id, columns, first_row, *rest, **more)

    monkeypatch.setattr(Store, "add_configurations", full)
    with pytest.raises(SearchError, match=f"ended, 30 of its {SIZE} configurations are kept: its disk is full"):
        small(store=store)
    run = store.find_run("latest")
    assert (run.state, run.n_evaluated, store.max_row(run.id)) == ("failed", 30, 29)
    assert run.message == "its disk is full: free some space and try again"
    assert sum(sum(rules.values()) for rules in run.counts.values()) == 30
    monkeypatch.undo()
    assert same(resume(store, run.id), small())


def test_a_read_only_store_is_found_out_before_the_search(
    url: str, evaluated_rows: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(url).close()
    # root may write to every file, so permissions would not do
    monkeypatch.setattr("db.engine._writable", lambda _: False)
    with pytest.raises(StoreError, match="is read-only"):
        small(store=url)
    assert evaluated_rows == []


def test_a_taken_name_is_found_out_before_the_search(store: Store, evaluated_rows: list[int]) -> None:
    small(store=store, name="mine")
    evaluated_rows.clear()
    with pytest.raises(StoreError, match="is there already"):
        small(store=store, name="mine")
    assert evaluated_rows == []


def test_a_store_of_the_caller_stays_open_and_a_url_is_closed(url: str, store: Store) -> None:
    small(store=store)
    small(store=url)
    assert [run.state for run in store.runs()] == ["done", "done"]


# Reuse


def test_an_equal_finished_run_can_answer(store: Store, evaluated_rows: list[int]) -> None:
    first = small(store=store, top=5)
    evaluated_rows.clear()
    again = small(store=store, reuse=True, top=5)
    assert same(first, again)
    assert first.run is not None
    assert again.run is not None
    assert again.run.id == first.run.id
    assert sum(evaluated_rows) < SIZE
    assert len(store.runs()) == 1
    assert small(store=store, top=5).run != again.run


@pytest.mark.parametrize("strategy", ["exhaustive", "tpe", "qmc"])
@pytest.mark.parametrize("top", [1, 7, 500])
def test_an_answer_from_the_store_is_the_same_for_every_strategy_and_length(
    store: Store, strategy: str, top: int
) -> None:
    first = small(store=store, strategy=strategy, budget=70, top=top)
    assert same(first, small(store=store, strategy=strategy, budget=70, top=top, reuse=True))
    assert len(store.runs()) == 1


def test_other_searches_are_not_answered_by_it(tens: None, store: Store) -> None:  # noqa: ARG001
    small(store=store)
    small(store=store, progress=stop_at(30))
    others: tuple[dict[str, Any], ...] = (
        {"timing": "device"},
        {"budget": 50},
        {"objectives": ("time", "memory")},
        {"seed": 1},
        {"platform": "ascend910b1"},
        {"problem": {**SIZES, "tiles": 25}},
        {"domains": {"fifo_depth": [1, 2]}},
    )
    for other in others:
        before = len(store.runs())
        small(**{"store": store, "reuse": True, **other})
        assert len(store.runs()) == before + 1, other


# Stopping and going on


def test_an_event_stops_a_search_and_keeps_what_it_has(tens: None, store: Store) -> None:  # noqa: ARG001
    stop = threading.Event()
    found = small(store=store, stop=stop, progress=lambda p: stop.set() if p.done == 40 else None)
    assert found.stopped
    assert found.n_evaluated == 40
    assert found.message == f"stopped on request, with 40 of {SIZE} configurations looked at"
    assert found.best is not None
    assert found.run is not None
    assert (found.run.state, found.run.best_row) == ("stopped", found.best["row"])
    assert store.max_row(found.run.id) == 39


def test_an_interrupted_run_goes_on_to_the_same_result(tens: None, store: Store, evaluated_rows: list[int]) -> None:  # noqa: ARG001
    whole = small()
    part = small(store=store, progress=stop_at(50))
    assert part.stopped
    assert part.run is not None
    evaluated_rows.clear()
    told: list[Progress] = []
    rest = resume(store, "latest", progress=told.append)
    assert same(rest, whole)
    assert rest.run is not None
    assert (rest.run.id, rest.run.state, rest.run.n_evaluated) == (part.run.id, "done", SIZE)
    assert rest.run.counts == whole.counts
    assert [p.done for p in told] == [*range(60, SIZE, 10), SIZE]
    assert store.configurations(rest.run.id)["row"].tolist() == list(range(SIZE))
    assert same(resume(store, "latest"), whole)
    assert len(store.runs()) == 1


def test_a_run_can_be_stopped_again_and_again(tens: None, url: str) -> None:  # noqa: ARG001
    small(store=url, progress=stop_at(20))
    for done in (50, 90):
        again = resume(url, 1, progress=stop_at(done))
        assert (again.stopped, again.n_evaluated) == (True, done)
    assert same(resume(url, 1), small())


def test_a_budget_holds_for_the_whole_run(tens: None, store: Store) -> None:  # noqa: ARG001
    options: dict[str, Any] = {"strategy": "exhaustive", "budget": 60}
    small(store=store, progress=stop_at(30), **options)
    assert same(resume(store, 1), small(**options))


def test_a_run_whose_program_died_goes_on_once_it_is_silent(
    tens: None,  # noqa: ARG001
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as dying:
        dying.setattr(Store, "finish_run", lambda *_, **__: (_ for _ in ()).throw(StoreError("gone")))
        with pytest.raises(SearchError, match="gone"):
            small(store=url, progress=stop_at(30))
    with pytest.raises(StoreError, match="gave a sign of life"):
        resume(url, 1)
    with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
        raw.execute("UPDATE run SET heartbeat_at = '2020-01-01 00:00:00.000'")
    raw.close()
    assert same(resume(url, 1), small())


def test_a_second_interrupt_raises_and_the_run_can_go_on(
    tens: None,  # noqa: ARG001
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import signal

    original = evaluation.evaluate_columns
    calls: list[int] = []

    def twice(problem: evaluation.Problem, table: Mapping[str, Any], **options: Any) -> Evaluation:
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return original(problem, table, **options)

    monkeypatch.setattr(evaluation, "evaluate_columns", twice)
    with pytest.raises(KeyboardInterrupt):
        small(store=store)
    monkeypatch.setattr(evaluation, "evaluate_columns", original)
    run = store.find_run("latest")
    assert (run.state, run.message, store.max_row(run.id)) == ("stopped", "interrupted", 19)
    assert same(resume(store, run.id), small())


def test_an_error_fails_the_run_and_is_raised_as_it_is(tens: None, store: Store) -> None:  # noqa: ARG001
    def progress(p: Progress) -> None:
        if p.done == 20:
            raise RuntimeError("the bar is broken")

    with pytest.raises(RuntimeError, match="the bar is broken"):
        small(store=store, progress=progress)
    run = store.find_run("latest")
    assert (run.state, run.message, store.max_row(run.id)) == ("failed", "the bar is broken", 19)


@pytest.mark.parametrize("strategy", ["tpe", "nsga2", "qmc", "random"])
@pytest.mark.parametrize("objectives", [("time",), ("time", "memory")])
def test_a_sampled_run_goes_on_to_the_same_result_without_running_anything_again(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    evaluated_rows: list[int],
    strategy: str,
    objectives: tuple[str, ...],
) -> None:
    monkeypatch.setattr(proposers, "FIRST_BATCH", 10)
    monkeypatch.setattr(proposers, "LARGE_BATCH", 10)
    monkeypatch.setattr(OptunaRows, "batch", 10)
    options: dict[str, Any] = {"strategy": strategy, "budget": 60, "seed": 8, "objectives": objectives}
    whole = small(store=store, **options)
    part = small(store=store, progress=stop_at(20), top=1, **options)
    assert part.stopped
    evaluated_rows.clear()
    told: list[Progress] = []
    rest = resume(store, "latest", progress=told.append)
    assert same(rest, whole)
    assert rest.run is not None
    assert whole.run is not None
    assert (rest.run.state, rest.run.n_evaluated) == ("done", 60)
    assert sum(evaluated_rows) <= 40 + 20  # behind the stored rows, and the leaders among them
    assert [p.done for p in told if p.done > 20] == [30, 40, 50, 60]
    for name in ("row", "t0", "t1", "t3", "verdict", "cycles"):
        ours, theirs = (store.configurations(r.id, [name])[name] for r in (rest.run, whole.run))
        assert ours.tolist() == theirs.tolist(), name


def test_a_sampled_run_that_proposes_otherwise_now_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposers, "FIRST_BATCH", 10)
    small(store=store, strategy="qmc", budget=50, progress=stop_at(20))
    monkeypatch.setattr(proposers, "FIRST_BATCH", 15)
    monkeypatch.setattr("pto_tune.search.proposers._HALTON", 7)
    with pytest.raises(SearchError, match="has other configurations than this pto-tune proposes for its seed"):
        resume(store, "latest")


def test_another_version_is_refused(tens: None, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    small(store=store, progress=stop_at(20))
    monkeypatch.setattr(pto_tune, "__version__", "99.0")
    with pytest.raises(SearchError, match=r"was made by pto-tune .* and this is 99\.0"):
        resume(store, "latest")
    assert store.find_run("latest").state == "stopped"


def test_a_platform_with_other_numbers_is_refused(tens: None, store: Store) -> None:  # noqa: ARG001
    base = load_platform("ascend910b2")
    faster = base.with_values({"clock.core_mhz": base["clock.core_mhz"] + 50})
    part = small(store=store, platform=faster, progress=stop_at(20))
    with pytest.raises(SearchError, match=r"the numbers of platform 'ascend910b2' .* are not those"):
        resume(store, "latest")
    rest = resume(store, "latest", platform=faster)
    assert rest.run is not None
    assert part.run is not None
    assert rest.run.id == part.run.id
    assert same(rest, small(platform=faster))


def test_a_platform_that_is_not_built_in_has_to_be_given(tens: None, store: Store) -> None:  # noqa: ARG001
    own = replace(load_platform("ascend910b2"), name="mine")
    small(store=store, platform=own, progress=stop_at(20))
    with pytest.raises(SearchError, match="the platform 'mine', which is not built in"):
        resume(store, "latest")
    assert same(resume(store, "latest", platform=own), small(platform=own))


def test_a_changed_workload_is_refused(tens: None, store: Store) -> None:  # noqa: ARG001
    stream = workload("stream")
    other = replace(stream, doc="another stream")
    tune(other, problem=SIZES, store=store, progress=stop_at(20))
    with pytest.raises(SearchError, match="the workload 'stream' is not the one"):
        resume(store, "latest")
    assert same(resume(store, "latest", workload=other), small())


def test_a_workload_of_ones_own_is_kept_in_the_run(tens: None, store: Store) -> None:  # noqa: ARG001
    own = replace(workload("stream"), name="mine")
    tune(own, problem=SIZES, store=store, progress=stop_at(20))
    assert same(resume(store, "latest"), small())


def test_a_run_whose_stored_times_are_not_ours_is_refused(tens: None, url: str) -> None:  # noqa: ARG001
    small(store=url, progress=stop_at(40))
    with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
        raw.execute("UPDATE configuration SET cycles = cycles + 1")
    raw.close()
    with pytest.raises(SearchError, match="has other times than this pto-tune predicts"):
        resume(url, 1)


def test_a_run_that_lacks_rows_is_refused(tens: None, url: str) -> None:  # noqa: ARG001
    small(store=url, progress=stop_at(40))
    with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
        raw.execute("DELETE FROM configuration WHERE row = 5")
    raw.close()
    with pytest.raises(SearchError, match="lacks rows before its last one, 39"):
        resume(url, 1)


def test_an_unknown_run_is_named(store: Store) -> None:
    small(store=store, name="here")
    with pytest.raises(StoreError, match="the nearest names are 'here'"):
        resume(store, "there")


def test_versions_name_ourselves_and_what_we_lean_on() -> None:
    assert versions()["pto-tune"] == pto_tune.__version__


def test_the_errors_of_the_parts_are_value_errors() -> None:
    assert issubclass(SearchError, ValueError)
    assert issubclass(TableError, ValueError)
