"""The line for the public flash attention scripts: what they cannot be given is refused."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune import api
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.formats import Options, format_named, render, write
from pto_tune.exporters.recommendation import Recommendation

Make = Callable[..., Recommendation]

CASES = format_named("cases")


def changed(flash: Make, **values: object) -> Recommendation:
    rec = flash()
    return flash(configuration={**rec.configuration, **values})


@pytest.mark.skipif(shutil.which("sh") is None, reason="no shell")
def test_the_shell_reads_case_preload_and_mask(flash: Make, tmp_path: Path) -> None:
    recs = [flash(run="it's ${X} `id`"), flash(problem={"s0": 1024, "s1": 2048, "head": 128, "causal": 0})]
    path = write(CASES, recs, tmp_path / "a b'c.sh")
    script = '. "$0"; printf "%s|%s|%s" "$PTO_TUNE_CASES" "$PTO_TUNE_QK_PRELOAD" "$PTO_TUNE_CAUSAL_MASK"'
    done = subprocess.run(["sh", "-c", script, str(path)], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("128,4096,4096,128,256;128,1024,2048,128,256|4|0", "")


def test_the_line_to_run_stands_in_the_file(flash: Make) -> None:
    text = render(CASES, [flash()])
    assert '# bash run.sh -r npu -v <SOC> --cases "$PTO_TUNE_CASES" --qk-preload "$PTO_TUNE_QK_PRELOAD"\n' in text
    causal = flash(problem={"s0": 4096, "s1": 4096, "head": 128, "causal": 1})
    assert '"$PTO_TUNE_QK_PRELOAD" --mask\n' in render(CASES, [causal])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"cube_s1": 64}, ["cube_s1 = 64: the scripts keep CUBE_S1 at 128"]),
        ({"sync_period": 2}, ["sync_period = 2: the kernel's header has kFaCvFifoConsSyncPeriod 4"]),
        ({"pv_fifo_depth": 4}, ["pv_fifo_depth = 4: the kernel's header has kFaCvFifoSize 8 for PV, too"]),
        (
            {"fifo_depth": 6},
            ["fifo_depth = 6: the kernel's header has kFaCvFifoSize 8",
             "pv_fifo_depth = 0 (which is 6): the kernel's header has kFaCvFifoSize 8 for PV, too"],
        ),
        ({"pv_fifo_depth": 8, "sync_period": 4, "tile_s1": 512, "qk_preload": 2}, []),
    ],
)  # fmt: skip
def test_what_the_kernel_has_fixed_is_not_dropped(values: dict[str, int], said: list[str], flash: Make) -> None:
    rec = changed(flash, **values)
    assert CASES.losses(rec) == said
    if not said:
        render(CASES, [rec])
        return
    with pytest.raises(ExportError) as refused:
        render(CASES, [rec])
    assert str(refused.value).splitlines() == [f"the format 'cases' cannot express {one}" for one in said]
    text = " ".join(render(CASES, [rec], Options(accept_loss=True)).split())
    assert all(f"# left out {one}" in text for one in said)


def test_a_split_that_the_kernel_has_not_is_not_dropped(flash: Make) -> None:
    rec = changed(flash, split="NO_SPLIT")
    rec = flash(configuration=rec.configuration, codes={"split": 0})
    assert CASES.losses(rec) == ["split = NO_SPLIT: the kernel splits tiles by TILE_UP_DOWN"]


def test_the_default_configuration_is_a_case() -> None:
    assert "'128,4096,4096,128,256'" in render(CASES, [api.recommendation("flash_attention", {})])


def test_one_call_has_one_preload_and_one_mask(flash: Make) -> None:
    other = flash(problem={"s0": 4096, "s1": 4096, "head": 64, "causal": 1}, configuration={
        **flash().configuration, "qk_preload": 2})  # fmt: skip
    with pytest.raises(ExportError) as refused:
        render(CASES, [flash(), other])
    first, second = str(refused.value).splitlines()
    assert "qk_preload 4 and 2" in first
    assert "causal 0 and 1" in second
    with pytest.raises(ExportError, match="are one case to the scripts"):
        render(CASES, [flash(), flash(run=4)])


def test_other_workloads_have_no_scripts(flash: Make, recommendation: Make) -> None:
    for rec in (flash(workload="gemm"), recommendation()):
        with pytest.raises(ExportError, match="has no public scripts with --cases"):
            render(CASES, [rec])
