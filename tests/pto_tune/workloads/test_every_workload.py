"""What holds for every built-in workload that has pipes."""

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from pto_tune.api import evaluate_records
from pto_tune.evaluation import Evaluation
from pto_tune.model import serial
from pto_tune.model.expr import evaluate as value_of
from pto_tune.rule_sets import rule_set_for
from pto_tune.tuning import tune
from pto_tune.verdicts import VERDICTS
from pto_tune.workloads import default_platform, workload, workload_names
from pto_tune.workloads.files import load_workload

Evaluate = Callable[..., Evaluation]

KERNELS = Path(__file__).parents[1] / "kernels" / "files"
CHIPS = {"ascend910b2": "a2a3", "ascend950pr": "a5"}
NAMES = ("paged_attention", "matmul_epilogue", "dequant_matmul", "bidirectional", "stream")

each = pytest.mark.parametrize("name", NAMES)
on_each_chip = pytest.mark.parametrize("chip", CHIPS)


def test_all_of_them_are_known() -> None:
    assert set(NAMES) < set(workload_names())


@pytest.mark.parametrize("name", workload_names())
def test_all_at_its_defaults_is_legal_and_safe_on_the_platform_that_is_taken(name: str) -> None:
    records = evaluate_records(name)
    assert [(r["verdict"], r["reason"]) for r in records] == [("ok", "")]


def test_a_kernel_runs_on_the_platform_that_it_was_written_for(tmp_path: Path) -> None:
    assert default_platform(workload("flash_attention")) == "ascend910b2"
    assert default_platform(workload("flash_attention_950")) == "ascend950pr"
    kernel = load_workload(KERNELS / "both_ways.pto")
    assert (kernel.family, default_platform(kernel)) == ("a5", "ascend950pr")
    (tmp_path / "kernel.json").write_text(serial.to_json(kernel), encoding="utf-8")
    for path in (KERNELS / "both_ways.pto", tmp_path / "kernel.json"):
        assert evaluate_records(path)[0]["rule_set"] == "a5"
        assert tune(workload=load_workload(path), top=1).problem.platform.name == "ascend950pr"
        assert evaluate_records(path, platform="ascend910b1")[0]["rule_set"] == "a2a3"


def test_a_family_that_there_is_not_is_refused() -> None:
    with pytest.raises(serial.WorkloadError, match="family: 'a7' is no family of platforms: expected a2a3 or a5"):
        serial.from_dict({**serial.to_dict(workload("gemm")), "family": "a7"})


@each
@on_each_chip
def test_the_default_is_sound_and_timed(name: str, chip: str, evaluate: Evaluate) -> None:
    e = evaluate(name, chip, rules=CHIPS[chip])
    assert VERDICTS[e.verdict[0]] == "ok", e.reason(0)
    assert e.cycles[0] > 0


@each
@on_each_chip
def test_the_domain_has_hundreds_of_sound_points_and_some_that_are_not(
    name: str, chip: str, evaluate: Evaluate
) -> None:
    tunables = workload(name).tunables
    points = np.array(list(product(*(t.domain for t in tunables))), dtype=np.int64)
    e = evaluate(name, chip, {t.name: points[:, i] for i, t in enumerate(tunables)})
    ok = int((e.verdict == VERDICTS.index("ok")).sum())
    assert ok < len(e)
    assert ok > (50 if name == "stream" else 300)
    # no value of a tunable is refused, hangs or overwrites everywhere
    for i, t in enumerate(tunables):
        for value in t.domain:
            if not (chip == "ascend950pr" and t.name == "split" and value == 0):  # needs AIV1 left out
                assert (e.verdict[points[:, i] == value] == 0).any(), (t.name, value)


@each
def test_defaults_lie_in_domains_and_domains_in_ranges(name: str) -> None:
    work = workload(name)
    for t in work.tunables:
        assert t.default in t.domain
        assert t.minimum <= min(t.domain)
        assert max(t.domain) <= t.maximum
    for p in work.problem:
        assert p.minimum <= p.default <= p.maximum
        assert not p.labels or len(p.labels) == p.maximum + 1


@each
def test_it_goes_through_json_and_the_check(name: str) -> None:
    work = workload(name)
    assert serial.check(work) == []
    assert serial.from_json(serial.to_json(work)) == work


@each
@pytest.mark.parametrize("rules", CHIPS.values())
def test_flag_ids_of_its_pipes_do_not_overlap(name: str, rules: str) -> None:
    taken = []
    for f in workload(name).fifos:
        direction = rule_set_for(rules).direction_of(f.direction, f.gm_form)
        assert direction is not None
        taken.append(set(range(f.flag_id, f.flag_id + direction.flag_ids)))
        assert max(taken[-1]) < 15
    assert all(a.isdisjoint(b) for a, b in combinations(taken, 2))


@each
def test_popped_tiles_are_not_counted_twice(name: str) -> None:
    """Tokens of popped tiles: as many as LocalSlotNum at most, and no bytes beside the pipe's local memory."""
    work = workload(name)
    env = {**{p.name: p.default for p in work.problem}, **{t.name: t.default for t in work.tunables}, "sub": 0}
    env |= {"flow": 1} if name == "stream" else {}
    for derived, e in work.derived:
        env[derived] = value_of(e, env)
    popped = {"p_l1", "qk_ub", "pv_ub", "sum_ub", "w_l1", "f_l1", "s_ub", "in_l1", "in_ub"}
    for b in work.buffers:
        if b.name in popped:
            assert value_of(b.bytes, env) == 0
            assert value_of(b.copies, env) <= env["local_slot_num"]
