"""Fit numbers of a platform to times from a board, and see what becomes of a prediction.

    python examples/calibrate_from_csv.py [FOLDER [BOARD.CSV]]

Without BOARD.CSV a stand-in is used, which is no measurement: times of the model itself with a launch of 8 us and loads
of 90 B/cycle, so that one can see whether the calibration finds them. Writes board.csv and my_board.toml into FOLDER
(default: a new temporary folder).
"""

# %% Where to write
import sys
import tempfile
from pathlib import Path

import pto_tune
from pto_tune.calibrating.calibration import calibrate
from pto_tune.calibrating.rows import Located
from pto_tune.calibrating.writing import write_platform
from pto_tune.measuring.reading import read_measurements

given = [] if "ipykernel" in sys.modules else sys.argv[1:]
folder = Path(given[0] if given else tempfile.mkdtemp(prefix="pto-tune-"))
folder.mkdir(parents=True, exist_ok=True)

# %% Times from a board, or the stand-in
if len(given) > 1:
    board = Path(given[1])
else:
    board = folder / "board.csv"
    moved = {"launch.event": 8.0, "dma.gm_to_ub.rate": 90.0}
    chip = pto_tune.load_platform("ascend910b2").with_values(moved)
    runs = [{"tiles": n, "slot_bytes": b, "store_cycles": 0} for b in (8192, 32768) for n in (16, 64, 256, 1024)]
    times = pto_tune.evaluate("stream", runs, platform=chip, timing="event")["time_us"]
    lines = ["workload,soc,timing,time_us,tiles,slot_bytes,store_cycles"]
    for run, time_us in zip(runs, times, strict=True):
        lines.append(f"stream,Ascend910B2,event,{time_us:.3f},{run['tiles']},{run['slot_bytes']},0")
    board.write_text("\n".join(lines) + "\n", encoding="utf-8")

# %% Read it: rows that cannot be used are named
measurements, faults = read_measurements(board)
print(f"{len(measurements)} measurements of {board.name}")
for fault in faults:
    print(f"  {fault}")

# %% Fit
fitted = calibrate(
    pto_tune.load_platform("ascend910b2"),
    ["launch.event", "dma.gm_to_ub.rate"],
    [Located(f"{board.name}, measurement {i}", m) for i, m in enumerate(measurements, 1)],
)
for number in fitted.numbers:
    print(f"{number.key}: {number.before:g} -> {number.after:.4g} {number.unit} (+- {number.standard_error:.2g})")
print(f"median error of the rows: {fitted.before.median:.1%} -> {fitted.after.median:.1%}")

# %% A platform file of one's own, used by its path
mine = folder / "my_board.toml"
write_platform(fitted, mine, force=True)
for name in ("ascend910b2", mine):
    time_us = pto_tune.evaluate("flash_attention", {"s0": 2048}, platform=str(name), timing="event")["time_us"][0]
    print(f"flash attention on {Path(name).name}: {time_us:.2f} us")
print(f"wrote {mine}")
