"""Tune flash attention and write the best configuration for a kernel build.

    python examples/tune_and_export.py [FOLDER]

Writes pipes.hpp and recommendation.json into FOLDER (default: a new temporary folder).
"""

# %% Where to write
import sys
import tempfile
from pathlib import Path

import pto_tune

given = [] if "ipykernel" in sys.modules else sys.argv[1:]
folder = Path(given[0] if given else tempfile.mkdtemp(prefix="pto-tune-"))
folder.mkdir(parents=True, exist_ok=True)

# %% Search every configuration: problem sizes, and values to try where the default domains are more than is wanted
problem = {"s0": 2048, "s1": 2048, "head": 128}
domains = {"fifo_depth": [2, 4, 6, 8], "cube_s1": [128], "pv_fifo_depth": [0], "sync_period": [0]}
result = pto_tune.tune("flash_attention", problem=problem, domains=domains, platform="ascend910b2")
print(f"{result.n_evaluated:,} configurations looked at")
for verdict, rules in result.counts.items():
    print(f"  {verdict}: {sum(rules.values()):,}")

# %% The five fastest
shown = ["cube_s0", "tile_s1", "qk_preload", "fifo_depth", "split", "time_us", "bound"]
print(result.table.head(5)[shown].to_string(index=False))

# %% Why the best one is as fast as it is
best = result.best["configuration"]
summary = pto_tune.explain("flash_attention", best).summary()
print(f"best: {summary['time_us']:.3f} us, bound by {summary['bound']}")
for part in summary["segments"][:3]:
    print(f"  {part['share']:.0%} {part['name']}")

# %% What the build takes
header = pto_tune.export("flash_attention", best, folder / "pipes.hpp", force=True)
document = pto_tune.export("flash_attention", best, folder / "recommendation.json", format="json", force=True)
print(f"wrote {header} and {document.name}")
