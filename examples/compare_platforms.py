"""What does the best configuration of one chip cost on another?

    python examples/compare_platforms.py [FOLDER]

Writes platforms.csv into FOLDER (default: a new temporary folder): a row a chip that was tuned for, a column a chip.
"""

# %% Where to write
import sys
import tempfile
from pathlib import Path

import pandas as pd

import pto_tune

given = [] if "ipykernel" in sys.modules else sys.argv[1:]
folder = Path(given[0] if given else tempfile.mkdtemp(prefix="pto-tune-"))
folder.mkdir(parents=True, exist_ok=True)

# %% Tune for every chip of the family
chips = [name for name in pto_tune.platform_names() if pto_tune.load_platform(name).family == "a2a3"]
problem = {"m": 4096, "k": 4096, "n": 4096}
domains = {"base_m": [128, 256], "base_k": [64], "base_n": [128, 256], "step_k": [1, 2, 4]}
best = {
    chip: pto_tune.tune("gemm", platform=chip, problem=problem, domains=domains).best["configuration"] for chip in chips
}

# %% Every best on every chip
configurations = list(best.values())
times = pd.DataFrame(
    {chip: pto_tune.evaluate("gemm", configurations, platform=chip)["time_us"].to_numpy() for chip in chips},
    index=pd.Index(chips, name="tuned for"),
)
times.to_csv(folder / "platforms.csv")
print("time in us, by chip (column) and the chip that was tuned for (row)")
print(times.round(2).to_string())

# %% What it costs to have one configuration for all
loss = times / times.min() - 1
for_all = loss.max(axis=1).idxmin()
print(f"the best for {for_all} costs at most {loss.loc[for_all].max():.1%} anywhere")
print(f"wrote {folder / 'platforms.csv'}")
