"""The kernels as plain Python: there indices are checked and an overflow warns, and the numbers are the same.

Compiled kernels do neither.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from executor_checks import RULE_SETS, expected, outcomes, platform, run
from unjitted_cases import CASES, answers, as_json

from pto_tune.workloads import workload

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Another interpreter in which every warning is an error and nothing is compiled."""
    folders = (ROOT, HERE, ROOT / "tests" / "oracle")
    path = os.pathsep.join(map(str, folders))
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env={**os.environ, "PTO_TUNE_NO_JIT": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_plain_python_gives_the_same_numbers_without_a_warning() -> None:
    ended = python(str(HERE / "unjitted_cases.py"))
    assert ended.returncode == 0, ended.stderr
    plain = json.loads(ended.stdout)
    assert plain == [json.loads(json.dumps(as_json(answers(case)))) for case in CASES]


def test_it_is_plain_python() -> None:
    code = "import pto_tune.executor.lanes as k, types; print(type(k.evaluate_families) is types.FunctionType)"
    ended = python("-c", code)
    assert (ended.stdout.strip(), ended.stderr) == ("True", "")


def test_the_cases_are_what_the_oracle_says() -> None:
    rules = RULE_SETS[0]
    for name, overrides, rows in CASES:
        w, chip = workload(name), platform(overrides)
        assert outcomes(run(w, chip, rules, rows)) == [expected(w, chip, rules, row) for row in rows]
