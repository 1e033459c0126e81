"""Share an exhaustive sweep out to workers of a Dask scheduler, and see that nothing differs from a local one.

    pip install 'pto-tune[distributed]'
    python examples/distributed_sweep.py [FOLDER]

Here scheduler and workers are threads of this process, on a port of this machine alone. For several machines start
`dask scheduler` and `dask worker tcp://HOST:8786`, and give their address instead, from a script or as in
`pto-tune tune flash_attention --scheduler tcp://HOST:8786`. Who reaches a scheduler's port can run code on it: use one
that you trust, in a network that you trust. Writes sweep.csv into FOLDER (default: a new temporary folder).
"""

# %% Where to write
import sys
import tempfile
from pathlib import Path

import dask
from distributed import LocalCluster

import pto_tune

given = [] if "ipykernel" in sys.modules else sys.argv[1:]
folder = Path(given[0] if given else tempfile.mkdtemp(prefix="pto-tune-"))
folder.mkdir(parents=True, exist_ok=True)

# %% The sweep
sweep = {
    "problem": {"s0": 2048, "s1": 4096},
    "domains": {"fifo_depth": [4, 6, 8], "tile_s1": [128, 256], "qk_preload": [1, 2, 4]},
    "strategy": "exhaustive",
}

# %% On a scheduler with two workers
with (
    tempfile.TemporaryDirectory() as scratch,
    dask.config.set(temporary_directory=scratch),
    LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster,
):
    print(f"scheduler at {cluster.scheduler_address} with {len(cluster.workers)} workers")
    shared = pto_tune.tune("flash_attention", **sweep, scheduler=cluster.scheduler_address)
print(f"{shared.n_evaluated:,} configurations, best {shared.best['time_us']:.3f} us, row {shared.best['row']}")

# %% The same here
local = pto_tune.tune("flash_attention", **sweep)
same = shared.top == local.top and shared.counts == local.counts
print(f"a local sweep finds {'the same' if same else 'SOMETHING ELSE'}")
shared.table.to_csv(folder / "sweep.csv", index=False)
print(f"wrote {folder / 'sweep.csv'}")
if not same:
    sys.exit(1)
