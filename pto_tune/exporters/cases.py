"""A recommendation for the public flash attention scripts of pto-isa: the cases of `run.sh`, as a file of the shell.

`run.sh` takes --cases "HEAD,S0,S1,CUBE_S0,TILE_S1" (several between semicolons), --qk-preload and --mask; its
generator keeps CUBE_S1 at 128, and the kernel's header has FifoDepth 8 with SyncPeriod 4 and splits tiles up and down
(hw-native-sys/pto-isa kernels/manual/common/flash_atten: run.sh, scripts/generate_cases.py, fa_performance_kernel.h,
fa_performance_kernel.cpp).
"""

from __future__ import annotations

from collections.abc import Sequence

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.facts import comment, fact_lines, loss_lines, title
from pto_tune.exporters.recommendation import Recommendation

WORKLOAD = "flash_attention"
FIELDS = ("head", "s0", "s1", "cube_s0", "tile_s1")
"""Fields of a case, in order."""

_KERNEL = {
    "cube_s1": (128, "the scripts keep CUBE_S1 at 128"),
    "fifo_depth": (8, "the kernel's header has kFaCvFifoSize 8"),
    "sync_period": (4, "the kernel's header has kFaCvFifoConsSyncPeriod 4"),
    "pv_fifo_depth": (8, "the kernel's header has kFaCvFifoSize 8 for PV, too"),
    "split": (1, "the kernel splits tiles by TILE_UP_DOWN"),
}
"""What a case cannot set: the value that the kernel has, and where it says so."""


def losses(rec: Recommendation) -> list[str]:
    """Tunables whose values the scripts cannot be given and the kernel does not have anyway."""
    if _strange(rec):
        return []
    depth = rec.number("fifo_depth")
    found = []
    for name, (value, why) in _KERNEL.items():
        own = rec.number(name)
        if name == "sync_period" and own == 0:
            own = next((pipe.sync_period for pipe in rec.pipes), value)
        if name == "pv_fifo_depth" and own == 0:
            own = depth
        if own != value:
            given = rec.configuration[name]
            meant = "" if own == rec.number(name) else f" (which is {own})"
            found.append(f"{name} = {given}{meant}: {why}")
    return found


def _strange(rec: Recommendation) -> str:
    """Why there are no scripts for a workload, "" where there are."""
    needed = {*FIELDS, *_KERNEL, "qk_preload", "causal"}
    if rec.workload == WORKLOAD and needed <= {*rec.problem, *rec.configuration}:
        return ""
    return f"workload {rec.workload!r} has no public scripts with --cases: {WORKLOAD!r} would be right"


def body(recs: Sequence[Recommendation], left_out: Sequence[Sequence[str]]) -> str:
    """Variables of the shell for `run.sh`. ExportError: another workload, or cases that one call cannot run."""
    wrong = [_strange(rec) for rec in recs if _strange(rec)]
    if wrong:
        raise ExportError("\n".join(dict.fromkeys(wrong)))
    for name, option in (("qk_preload", "--qk-preload"), ("causal", "--mask")):
        have = list(dict.fromkeys(rec.number(name) for rec in recs))
        if len(have) > 1:
            wrong.append(
                f"the configurations have {name} {' and '.join(map(str, have))}, and one call of the scripts has one "
                f"{option}: a file for each would be right"
            )
    cases = [",".join(str(rec.number(name)) for name in FIELDS) for rec in recs]
    if len(set(cases)) < len(cases):
        wrong.append("two of the configurations are one case to the scripts: one of them would be right")
    if wrong:
        raise ExportError("\n".join(wrong))
    lines: list[str] = []
    for rec, losses_of in zip(recs, left_out, strict=True):
        lines += [comment(title(rec)), "", *fact_lines(rec), *loss_lines(losses_of), ""]
    mask = " --mask" if recs[0].number("causal") else ""
    lines += [
        "The environment of pto-isa kernels/manual/common/flash_atten/run.sh; a case is HEAD,S0,S1,CUBE_S0,TILE_S1:",
        f'bash run.sh -r npu -v <SOC> --cases "$PTO_TUNE_CASES" --qk-preload "$PTO_TUNE_QK_PRELOAD"{mask}',
    ]
    out = [f"# {line}".rstrip() for line in lines]
    out += [
        f"export PTO_TUNE_CASES='{';'.join(cases)}'",
        f"export PTO_TUNE_QK_PRELOAD='{recs[0].number('qk_preload')}'",
        f"export PTO_TUNE_CAUSAL_MASK='{recs[0].number('causal')}'",
    ]
    return "\n".join(out) + "\n"
