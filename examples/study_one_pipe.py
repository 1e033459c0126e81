"""How deep does one pipe have to be? A C2V pipe by itself, over FifoDepth and the work of its consumer.

    python examples/study_one_pipe.py [FOLDER]

Writes depths.csv and trace.json (for Perfetto) into FOLDER (default: a new temporary folder).
"""

# %% Where to write
import sys
import tempfile
from pathlib import Path

import pto_tune

given = [] if "ipykernel" in sys.modules else sys.argv[1:]
folder = Path(given[0] if given else tempfile.mkdtemp(prefix="pto-tune-"))
folder.mkdir(parents=True, exist_ok=True)

# %% Every depth with every consumer: a table in, a table out
depths, consumers = [1, 2, 4, 8], [500, 1500, 3000]
table = pto_tune.evaluate(
    "stream",
    [
        {"tiles": 64, "slot_bytes": 32768, "producer_cycles": 1500, "consumer_cycles": cycles, "fifo_depth": depth}
        for cycles in consumers
        for depth in depths
    ],
)
table.to_csv(folder / "depths.csv", index=False)
print(table[["consumer_cycles", "fifo_depth", "verdict", "time_us", "bound"]].to_string(index=False))

# %% The least depth within 2 % of the best, for each consumer
for cycles, rows in table[table["verdict"] == "ok"].groupby("consumer_cycles"):
    enough = rows[rows["time_us"] <= 1.02 * rows["time_us"].min()].iloc[0]
    print(f"consumer of {cycles} cycles: depth {enough['fifo_depth']} is enough ({enough['time_us']:.2f} us)")

# %% What the pipes wait for where the depth is 1, and its timeline
one = {"tiles": 64, "slot_bytes": 32768, "producer_cycles": 1500, "consumer_cycles": 1500, "fifo_depth": 1}
explanation = pto_tune.explain("stream", one)
for channel, cycles in list(explanation.summary()["waits"].items())[:3]:
    print(f"  {cycles:,} cycles of waiting for {channel}")
explanation.write_trace(folder / "trace.json")
print(f"wrote {folder / 'depths.csv'} and trace.json")
