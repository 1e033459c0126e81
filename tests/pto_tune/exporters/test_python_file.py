"""The dictionary for DSL kernels: a module that Python reads and that does nothing."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_tune.exporters.formats import format_named, render, write
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]

PYTHON = format_named("python")


def read(text: str) -> list[dict[str, Any]]:
    first, second = ast.parse(text).body
    assert isinstance(first, ast.Assign)
    assert ast.unparse(second) == "CONFIGURATION = CONFIGURATIONS[0]"
    found: list[dict[str, Any]] = ast.literal_eval(first.value)
    return found


def test_pipes_have_the_names_of_the_pipe_operations(recommendation: Make) -> None:
    (rec,) = read(render(PYTHON, [recommendation()]))
    assert rec["problem"] == {"causal": 0, "head": 128, "s0": 4096, "s1": 4096}
    assert rec["constants"] == {"CUBE_S0": 128, "CUBE_S1": 128, "TILE_S1": 256, "QK_PRELOAD": 4}
    assert list(rec["pipes"]) == ["qk", "p", "pv"]
    p = rec["pipes"]["p"]
    names = ("dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base", "nosplit", "sync_period")
    assert [p[name] for name in names] == [2, 65536, 8, 2, 2, False, 4]


@pytest.mark.parametrize(("direction", "mask"), [("DIR_C2V", 1), ("DIR_V2C", 2), ("DIR_BOTH", 3)])
def test_a_direction_has_a_bit_for_each_way(direction: str, mask: int, recommendation: Make, pipe: MakePipe) -> None:
    (rec,) = read(render(PYTHON, [recommendation(pipes=(pipe("x", direction=direction),))]))
    assert rec["pipes"]["x"]["dir_mask"] == mask


def test_several_stand_in_their_order(recommendation: Make) -> None:
    found = read(render(PYTHON, [recommendation(predicted_us=1.0), recommendation(predicted_us=2.0)]))
    assert [rec["predicted_us"] for rec in found] == [1.0, 2.0]


def test_the_module_can_be_imported(recommendation: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(PYTHON, [recommendation(workload="中文 \"'\\ ${x} {{x}}")], tmp_path / "exported_configuration.py")
    monkeypatch.syspath_prepend(tmp_path)
    import exported_configuration  # type: ignore[import-not-found]

    assert exported_configuration.CONFIGURATION["workload"] == "中文 \"'\\ ${x} {{x}}"
