"""Runs in the store, on SQLite and on PostgreSQL alike."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import db
from db import RunSpec, Store, StoreError

MakeSpec = Callable[..., RunSpec]

ODD_NAMES = [
    'it\'s "quoted"; DROP TABLE run; --',
    "<script>alert(1)</script> & co",
    "融合注意力 第一次",
    "family 👩‍👩‍👧 rocket 🚀",
    "per%cent %s ? :x \\ $1",
    "n" * 200,
    "-5",
    "1e3",
]


class TestCreating:
    def test_a_new_run_has_everything_that_its_spec_said(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec(name="first", pto_isa="0a15e15c"))
        assert run.state == "running"
        assert (run.name, run.workload, run.platform, run.pto_isa) == (
            "first",
            "gemm",
            "ascend910b2",
            "0a15e15c",
        )
        assert run.workload_json == '{"cores": []}'
        assert run.problem == {"m": 512, "n": 256, "causal": False}
        assert run.objectives == ("time", "memory")
        assert run.versions == {"pto-tune": "0.1.0"}
        assert run.tunables[0] == {"name": "fifo_depth", "domain": [2, 4, 8]}
        assert run.tunables[1] == {"name": "split", "domain": ["none", "up-down"]}
        assert (run.rules, run.verdicts) == (("ub-capacity", "flag-ids"), ("ok", "refused", "hang"))
        assert (run.pipes, run.columns) == (("AIC.M", "AIV0.V"), ("ub", "cycles"))
        assert (run.clock_mhz, run.launch_us, run.seed) == (1850.0, 2.5, 7)
        assert (run.n_candidates, run.n_evaluated) == (6, 0)
        assert (run.finished_at, run.best_row, run.best_cycles, run.counts) == (None, None, None, {})
        assert store.find_run(run.id).problem == run.problem

    def test_times_are_now_and_in_utc(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec())
        assert run.created_at.tzinfo is UTC
        assert abs(run.created_at - datetime.now(UTC)) < timedelta(seconds=20)
        assert 0 <= run.heartbeat_age_s < 20

    def test_a_run_without_a_name_is_called_workload_platform_number(self, store: Store, spec: MakeSpec) -> None:
        first, second = store.create_run(spec()), store.create_run(spec())
        assert first.name == f"gemm-ascend910b2-{first.id}"
        assert second.name == f"gemm-ascend910b2-{second.id}"

    def test_a_default_name_that_is_taken_gets_a_further_number(self, store: Store, spec: MakeSpec) -> None:
        first = store.create_run(spec(name="x"))
        store.rename_run(first.id, f"gemm-ascend910b2-{first.id + 1}")
        assert store.create_run(spec()).name == f"gemm-ascend910b2-{first.id + 1}-2"

    def test_a_default_name_is_a_legal_name(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec(workload="w" * 300, platform="a\nb"))
        assert len(run.name) == 200
        assert store.find_run(run.name).id == run.id
        assert store.create_run(spec(workload="a\nb")).name.startswith("ab-ascend910b2-")

    def test_a_name_is_given_once(self, store: Store, spec: MakeSpec) -> None:
        store.create_run(spec(name="mine"))
        with pytest.raises(StoreError, match=r"'mine' is there already: choose another name"):
            store.create_run(spec(name="mine"))
        assert len(store.runs()) == 1

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"tunables": [{"name": f"t{i}", "domain": [1]} for i in range(17)]}, "17 tunables, at most 16"),
            ({"tunables": [{"name": "a", "domain": []}]}, "domain of 'a' must have 1 to 32767 values"),
            ({"tunables": [{"name": "a", "domain": [1]}] * 2}, "two tunables have one name"),
            ({"verdicts": ()}, "names no verdict"),
            ({"rules": ("r", "r")}, "two of its rules have one name"),
            ({"columns": ("ub", "password")}, "no configuration column is named 'password'"),
            ({"clock_mhz": 0.0}, "clock_mhz is 0.0, it must be above 0"),
            ({"launch_us": float("nan")}, "launch_us is nan"),
            ({"n_candidates": 2**63}, "n_candidates is 9223372036854775808"),
            ({"problem": {"m": float("inf")}}, "problem sizes must be finite"),
            ({"problem": {"m": object()}}, "problem sizes must be finite"),
        ],
    )
    def test_a_spec_that_the_table_cannot_hold_is_refused(
        self, store: Store, spec: MakeSpec, change: dict[str, object], sentence: str
    ) -> None:
        with pytest.raises(StoreError, match=sentence):
            store.create_run(spec(**change))
        assert store.runs() == []

    def test_all_that_is_wrong_with_a_spec_is_said_at_once(self, store: Store, spec: MakeSpec) -> None:
        with pytest.raises(StoreError, match=r"clock_mhz .*; n_candidates .*; it names no verdict"):
            store.create_run(spec(clock_mhz=-1.0, n_candidates=-1, verdicts=()))

    def test_texts_that_a_database_cannot_hold_are_mended(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec(workload="a\x00b\ud800", problem={"k\x00": "\ud800"}))
        assert run.workload == "a?b?"
        assert run.problem == {"k\x00": "\ud800"}


class TestNames:
    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_a_name_may_hold_anything_printable(self, store: Store, spec: MakeSpec, name: str) -> None:
        run = store.create_run(spec(name=name))
        other = store.create_run(spec())
        assert store.find_run(name).id == run.id
        assert run.name == name
        store.rename_run(name, "plain")
        store.rename_run(other.id, name)
        assert store.find_run(name).id == other.id
        store.delete_run(name)
        assert [kept.name for kept in store.runs()] == ["plain"]

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("", "must not be empty"),
            ("  ", "must not be empty"),
            ("12", "reads as a run's number"),
            ("１２", "reads as a run's number"),
            ("latest", "stands for the newest run"),
            ("Latest", "stands for the newest run"),
            ("n" * 201, "has 201 characters: use at most 200"),
            ("two\nlines", "control characters"),
            ("bell\x07", "control characters"),
            ("nul\x00", "control characters"),
            ("half \ud800", "control characters"),
        ],
    )
    def test_some_names_are_refused_when_created_and_when_renamed(
        self, store: Store, spec: MakeSpec, name: str, sentence: str
    ) -> None:
        with pytest.raises(StoreError, match=sentence):
            store.create_run(spec(name=name))
        run = store.create_run(spec(name="kept"))
        with pytest.raises(StoreError, match=sentence) as caught:
            store.rename_run(run.id, name)
        assert str(caught.value).isprintable()
        assert [kept.name for kept in store.runs()] == ["kept"]

    def test_one_name_typed_in_two_ways_is_one_name(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec(name="caf\u00e9"))
        assert store.find_run("cafe\u0301").id == run.id

    def test_renaming_to_a_taken_name_is_refused(self, store: Store, spec: MakeSpec) -> None:
        store.create_run(spec(name="a"))
        store.create_run(spec(name="b"))
        with pytest.raises(StoreError, match="'a' is there already"):
            store.rename_run("b", "a")
        assert store.rename_run("b", "b").name == "b"


class TestFinding:
    def test_by_number_by_name_and_the_latest(self, store: Store, spec: MakeSpec) -> None:
        first, second = store.create_run(spec(name="a")), store.create_run(spec(name="b"))
        assert store.find_run(first.id).name == "a"
        assert store.find_run(str(first.id)).name == "a"
        assert store.find_run("a").id == first.id
        assert store.find_run("latest").id == second.id
        assert [run.id for run in store.runs()] == [second.id, first.id]

    def test_an_unknown_name_is_told_the_nearest_ones(self, store: Store, spec: MakeSpec) -> None:
        for name in ("flash-long", "flash-short", "gemm"):
            store.create_run(spec(name=name))
        with pytest.raises(StoreError, match=r"no run is named 'Flash-lon' .*nearest names are 'flash-long'"):
            store.find_run("Flash-lon")
        with pytest.raises(StoreError, match=r"the nearest names are '"):
            store.find_run("zzzzzz")

    @pytest.mark.parametrize("ref", [99, -1, 2**70, "99", "9" * 5000, "0"])
    def test_an_unknown_number_is_told_the_newest_runs(self, store: Store, spec: MakeSpec, ref: str | int) -> None:
        run = store.create_run(spec(name="only"))
        with pytest.raises(StoreError, match=rf"no run has the number .* the newest are {run.id} \('only'\)"):
            store.find_run(ref)

    @pytest.mark.parametrize("ref", ["", "a\x00b", "\ud800", "'; --"])
    def test_what_cannot_be_a_name_is_not_found(self, store: Store, spec: MakeSpec, ref: str) -> None:
        store.create_run(spec(name="only"))
        with pytest.raises(StoreError, match=r"no run is named"):
            store.find_run(ref)

    @pytest.mark.parametrize("ref", ["latest", "x", 1])
    def test_a_store_without_runs_says_how_to_get_one(self, store: Store, ref: str | int) -> None:
        with pytest.raises(StoreError, match=r"no runs yet in .*: run 'pto-tune tune \.\.\.' first"):
            store.find_run(ref)

    def test_runs_of_one_spec(self, store: Store, spec: MakeSpec) -> None:
        first = store.create_run(spec(spec_sha256="c" * 64))
        store.create_run(spec(spec_sha256="d" * 64))
        third = store.create_run(spec(spec_sha256="c" * 64))
        assert [run.id for run in store.find_spec("c" * 64)] == [third.id, first.id]
        assert store.find_spec("e" * 64) == []


class TestLife:
    def test_progress_is_kept_and_is_a_sign_of_life(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec())
        store.progress(run.id, np.int64(4))
        after = store.find_run(run.id)
        assert after.n_evaluated == 4
        assert after.heartbeat_at >= run.heartbeat_at

    def test_a_run_ends_once(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec())
        done = store.finish_run(
            run.id,
            "done",
            message="all \x00 seen",
            counts={"ok": np.int64(2), "ub-capacity": 1},
            best_row=np.int64(3),
            best_cycles=2**40,
        )
        assert (done.state, done.message) == ("done", "all ? seen")
        assert done.counts == {"ok": 2, "ub-capacity": 1}
        assert (done.best_row, done.best_cycles) == (3, 2**40)
        assert done.finished_at is not None
        assert done.finished_at >= done.created_at
        with pytest.raises(StoreError, match="is done: only a running run"):
            store.finish_run(run.id, "failed")
        with pytest.raises(StoreError, match="is done: only a running run"):
            store.progress(run.id, 5)
        assert store.find_run(run.id).state == "done"

    @pytest.mark.parametrize("state", ["running", "ok", ""])
    def test_a_run_ends_as_done_stopped_or_failed_only(self, store: Store, spec: MakeSpec, state: str) -> None:
        run = store.create_run(spec())
        with pytest.raises(StoreError, match="use done, stopped, failed"):
            store.finish_run(run.id, state)
        assert store.find_run(run.id).state == "running"

    @pytest.mark.parametrize(
        ("values", "sentence"),
        [
            ({"best_row": -1}, "best_row is -1"),
            ({"best_cycles": 2**63}, "best_cycles is 9223372036854775808"),
            ({"best_cycles": 1.5}, "best_cycles is 1.5: it must be an integer"),
            ({"counts": {"ok": float("nan")}}, "the counts must be finite"),
        ],
    )
    def test_an_end_that_the_table_cannot_hold_is_refused(
        self, store: Store, spec: MakeSpec, values: dict[str, object], sentence: str
    ) -> None:
        run = store.create_run(spec())
        with pytest.raises(StoreError, match=sentence):
            store.finish_run(run.id, "done", **values)  # type: ignore[arg-type]
        assert store.find_run(run.id).state == "running"

    def test_a_stopped_run_is_resumed_and_goes_on(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec())
        store.finish_run(run.id, "stopped", message="Ctrl-C")
        again = store.resume_run(run.name)
        assert (again.state, again.finished_at, again.message) == ("running", None, "")
        store.progress(run.id, 1)

    def test_a_done_run_is_not_resumed(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec())
        store.finish_run(run.id, "done")
        with pytest.raises(StoreError, match="nothing to resume"):
            store.resume_run(run.id)

    def test_a_running_run_is_taken_over_only_when_its_writer_is_dead(self, store: Store, spec: MakeSpec) -> None:
        run = store.create_run(spec())
        with pytest.raises(StoreError, match="gave a sign of life"):
            store.resume_run(run.id, dead_after_s=3600)
        assert store.resume_run(run.id, dead_after_s=0).state == "running"

    def test_a_deleted_run_is_gone_and_its_number_is_not_given_again(self, store: Store, spec: MakeSpec) -> None:
        kept, deleted = store.create_run(spec(name="kept")), store.create_run(spec(name="deleted"))
        verdict = np.zeros(3, dtype=np.int64)
        for run in (kept, deleted):
            store.add_configurations(run.id, {"verdict": verdict}, 0)
            store.add_accounts(run.id, [(0, "busy", "AIC.M", 10)])
        store.delete_run("deleted")
        with pytest.raises(StoreError, match="no run has the number"):
            store.max_row(deleted.id)
        with pytest.raises(StoreError, match="no run has the number"):
            store.add_configurations(deleted.id, {"verdict": verdict}, 3)
        assert store.create_run(spec()).id > deleted.id
        assert store.max_row(kept.id) == 2
        assert len(store.accounts(kept.id)) == 1


class TestClosing:
    def test_a_closed_store_says_so(self, url: str) -> None:
        store = db.open_store(url)
        store.close()
        store.close()
        with pytest.raises(StoreError, match="is closed: open it again"):
            store.runs()

    def test_what_was_written_is_there_when_opened_again(self, url: str, spec: MakeSpec) -> None:
        with db.open_store(url) as store:
            store.create_run(spec(name="kept"))
        with db.open_store(url, create=False) as store:
            assert store.find_run("latest").name == "kept"
