"""Executor and oracle agree on the forms that these tests speak of: makespan, busy cycles, hangs, credits left."""

from typing import Any

import pytest
from executor_checks import differences
from pipe_forms import FAMILIES, GLOBAL, TILES, ask, chip, one_pipe
from simulate import simulate

from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, NO_SPLIT, UP_DOWN, UP_DOWN_ODD, TConfig
from pto_tune.rule_sets import RuleSet, rule_sets

GM = {"gm_form": True}
SLOTS = {"flow": GLOBAL, **GM}
ALONE = {"split": NO_SPLIT, "second_sub_core": False}
ODD = {"rows": 65, "cols": 65, "slot_bytes": 17408, "load": None, "consume": "TPOP COMPUTE", **GM}

FORMS: dict[str, dict[str, Any]] = {
    "tiles": {},
    "tiles to the cube": {"direction": "V2C"},
    "tiles through GM": GM,
    "slots": SLOTS,
    "slots to the cube": {"direction": "V2C", **SLOTS},
    "tiles both ways": {"direction": "BOTH"},
    "tiles both ways through GM": {"direction": "BOTH", **GM},
    "slots both ways through GM": {"direction": "BOTH", **SLOTS},
    "five slots": {"slot_num": 5},
    "no back-pressure": {"slot_num": 2, "allocate": 0, "free": 0},
    "one sub-core": ALONE,
    "one sub-core, without IsNoSplit": {**ALONE, "is_no_split": 0},
    "one sub-core of two": {"split": UP_DOWN, "second_sub_core": False},
    "by columns": {"split": LEFT_RIGHT, "load": None},
    "by columns, odd": {"split": LEFT_RIGHT_ODD, **ODD},
    "by rows, odd": {"split": UP_DOWN_ODD, **ODD},
    "push without a split": {"push_split": NO_SPLIT, "pop_split": UP_DOWN},
    "never freed": {"consume": "TPOP COMPUTE"},
    "freed before it is computed on": {"consume": "TPOP TFREE COMPUTE"},
    "freed before it is loaded": {"consume": "TPOP TFREE TLOAD COMPUTE", **SLOTS},
    "stored behind the push": {"produce": "TALLOC TPUSH TSTORE", **SLOTS},
    "two slots for a push": {"produce": "TALLOC TALLOC TSTORE TPUSH", **SLOTS},
    "a TMPipe": {"kind": "TMPipe"},
    "a gated TMPipe": {"kind": "TMPipe", "gated": 1},
    **{
        f"SubBlockId {k}": {"config": TConfig(sub_block_id=k), "split": LEFT_RIGHT if k == 3 else UP_DOWN}
        for k in range(4)
    },
}
every_rule_set = pytest.mark.parametrize("rules", [r for f in FAMILIES for r in rule_sets(f)], ids=lambda r: r.name)


@every_rule_set
@pytest.mark.parametrize("form", FORMS.values(), ids=[name.replace(" ", "-") for name in FORMS])
def test_executor_and_oracle_agree(form: dict[str, Any], rules: RuleSet) -> None:
    for tiles in (1, 2, 5, 12):
        work = one_pipe(**{"flow": TILES, **form, "tiles": tiles})
        answer = ask(work, rules.family, rules.name)
        if answer.evaluation.execution is None:  # refused by a static rule, and so never run
            assert answer.verdict == "refused"
            continue
        assert differences(work, chip(rules.family), rules, [{}]) == []
        seen = simulate(work, chip(rules.family), rules, {})
        assert ("hang" in answer.verdicts) == (seen.status == "hang")
        if seen.clashes or seen.torn:
            assert {"hang", "overwrite", "race"} & set(answer.verdicts)
        if seen.status == "ok":
            assert ("flag-left" in answer.rules) == (seen.credits_left > 0)
