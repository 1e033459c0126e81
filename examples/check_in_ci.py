"""Keep what was tuned in the repository, and let continuous integration say when it became slower or illegal.

    python examples/check_in_ci.py [FOLDER]

Writes tuned.json, the baseline that is committed, and slow.toml, a made-up slower chip, into FOLDER (default: a new
temporary folder). A step of a CI job is two lines of shell, which need neither store nor network nor board:

    pip install pto-tune
    pto-tune check tuned.json --max-regression 2%    # exit code 1 ends the job

and whoever wants the new results as they are commits what `pto-tune check tuned.json --update` writes.
"""

# %% Where to write
import sys
import tempfile
from pathlib import Path

from pto_tune.checking.baseline import read_baseline, write_baseline
from pto_tune.checking.comparing import compare
from pto_tune.checking.searches import Asked, entry_of

given = [] if "ipykernel" in sys.modules else sys.argv[1:]
folder = Path(given[0] if given else tempfile.mkdtemp(prefix="pto-tune-"))
folder.mkdir(parents=True, exist_ok=True)

# %% Once: tune, and write the baseline (pto-tune check tuned.json --write --workload flash_attention ...)
asked = Asked(
    "flash_attention", "ascend910b2", folder,
    problem={"s0": 1024, "s1": 1024}, domains={"fifo_depth": [4, 6, 8], "tile_s1": [128, 256]},
)  # fmt: skip
write_baseline(folder / "tuned.json", [entry_of(asked, asked.search(), "fa-1024")])

# %% At every change: the same search again (pto-tune check tuned.json --max-regression 2%)
for entry in read_baseline(folder / "tuned.json"):
    today = compare(entry, folder, limit=0.02)
    print(f"{entry.name}: {today.state}, best {entry.best.time_us:.3f} us of {entry.n_evaluated:,} configurations")

# %% What it says where something became slower: a chip whose vector cores take twice as long for exp
(folder / "slow.toml").write_text(
    """\
[platform]
name = "slow"
inherits = "ascend910b2"

[vector.exp.slope]
value = 4
unit = "cycles/repeat"
kind = "assumed"
source = "made up for an example"
""",
    encoding="utf-8",
)
for entry in read_baseline(folder / "tuned.json"):
    slower = compare(entry.model_copy(update={"platform": "slow.toml"}), folder, limit=0.02)
    print(f"{entry.name} on a slower chip: {slower.state}")
    for sentence in slower.regressions:
        print(f"  {sentence}")
print(f"wrote {folder / 'tuned.json'}")
