"""kill -9 at random moments of a sweep: nothing lost, nothing twice. The benchmark of this name kills more often."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import kills


def test_a_sweep_that_is_killed_again_and_again_loses_nothing(url: str, tmp_path: Path) -> None:
    found = kills.series(url, 5, 20261201, tmp_path)  # on both databases: ten
    assert found.wrong == []
    assert (found.kills, found.sweeps >= 1) == (5, True)
    assert found.reported > 0
