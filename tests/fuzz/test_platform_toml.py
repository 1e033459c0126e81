"""A platform file from anybody: every error in words, or numbers that predictions can be made with."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fuzzing import answer_or_clear_error, assert_sentences, fuzz, in_time, mutated
from hypothesis import given
from hypothesis import strategies as st

from cost_models import load_platform
from cost_models.platform import check_file
from cost_models.schema import builtin_files
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.workloads import workload

TEXTS = {name: path.read_text("utf-8") for name, path in builtin_files().items()}
TREES = [
    tomllib.loads(text) for name, text in TEXTS.items() if name in ("ascend910b2", "ascend910b1", "a2a3-link-hixl")
]
CHILD = """
[platform]
name = "mine"
soc = "x"
description = "x"
inherits = "ascend910b2"
"""


def toml(tree: Any, at: str = "") -> str:
    """A tree as TOML, as far as there is TOML for it; keys and texts are quoted as JSON does it."""

    def value(x: Any) -> str:
        match x:
            case bool():
                return str(x).lower()
            case None:
                return "none"
            case float():
                return str(x)
            case int():
                return str(x)
            case str():
                return json.dumps(x, ensure_ascii=True)
            case list():
                return f"[{', '.join(map(value, x))}]"
        return "{" + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in x.items()) + "}"

    if not isinstance(tree, dict):
        return f"x = {value(tree)}\n"
    plain = "".join(f"{json.dumps(k)} = {value(v)}\n" for k, v in tree.items() if not isinstance(v, dict))
    inner = {f"{at}.{json.dumps(k)}" if at else json.dumps(k): v for k, v in tree.items() if isinstance(v, dict)}
    return plain + "".join(f"\n[{key}]\n{toml(v, key)}" for key, v in inner.items())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("platforms") / "fuzzed.toml"


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    evaluate_columns(Problem.of(workload("stream"), load_platform("ascend910b2")), {})


def checked(path: Path, raw: bytes) -> str:
    """The refusal of a file, "" where it is none; what is not refused makes a prediction, or says why not."""
    path.write_bytes(raw)
    platform, refused = answer_or_clear_error(lambda: load_platform(path))
    with in_time():
        wrong = check_file(path)
    if wrong:
        assert_sentences("\n".join(wrong))
        assert refused == "\n".join(wrong)
        assert [line for line in wrong if ": " not in line] == []
    if platform is None:
        assert ": " in refused
        return refused
    assert all(math.isfinite(platform[key]) for key in platform)
    found, unfit = answer_or_clear_error(
        lambda: evaluate_columns(Problem.of(workload("stream"), platform), {"tiles": 20}, threads=1)
    )
    if not unfit:
        assert (found.cycles >= 0).all()
    return refused


@fuzz(80)
@given(tree=mutated(TREES))
def test_a_changed_file_is_refused_or_good_for_predictions(path: Path, tree: Any) -> None:
    checked(path, toml(tree).encode("utf-8", "surrogatepass"))


changes = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "swap", "cut", "insert"]), st.integers(0, 10_000), st.text(max_size=8)
    ),
    min_size=1,
    max_size=3,
)


@fuzz(60)
@given(name=st.sampled_from(sorted(TEXTS)), changes=changes)
def test_a_garbled_file_is_refused_or_good_for_predictions(path: Path, name: str, changes: Any) -> None:
    lines = TEXTS[name].split("\n")
    for what, at, text in changes:
        i = at % len(lines)
        if what == "drop" and len(lines) > 1:
            del lines[i]
        elif what == "double":
            lines.insert(i, lines[i])
        elif what == "swap":
            lines[i], lines[0] = lines[0], lines[i]
        elif what == "cut":
            lines[i] = lines[i][: len(lines[i]) // 2]
        else:
            lines[i] = lines[i][:at] + text + lines[i][at:]
    checked(path, "\n".join(lines).encode("utf-8", "surrogatepass"))


@fuzz(60)
@given(raw=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: (CHILD + text).encode("utf-8")))
def test_any_bytes_are_refused_in_words(path: Path, raw: bytes) -> None:
    checked(path, raw)


HOSTILE = {
    "deep lists": b"a = " + b"[" * 100_000,
    "deep keys": b"a" + b".a" * 50_000 + b" = 1",
    "many keys": b"[a]\n" + b"".join(b"k%d = 1\n" % i for i in range(50_000)),
    "long number": b"a = " + b"9" * 100_000,
    "large": b"#" * 2**21,
    "far parent": CHILD.replace("ascend910b2", "../" * 1000 + "etc/passwd").encode(),
    "own parent": CHILD.replace("ascend910b2", "fuzzed.toml").encode(),
    "null": CHILD.replace("ascend910b2", "a\\u0000.toml").encode(),
    "device": CHILD.replace("ascend910b2", "../" * 20 + "dev/zero").encode(),
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=list(HOSTILE))
def test_what_would_take_long_is_refused_in_time(path: Path, raw: bytes) -> None:
    assert checked(path, raw)


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "a\0.toml", "/", "x" * 300 + ".toml"])
def test_what_is_no_file_is_refused(place: str) -> None:
    assert answer_or_clear_error(lambda: load_platform(Path(place)))[1]


NUMBER = '[{key}]\nvalue = {value}\nunit = "{unit}"\nkind = "assumed"\nsource = "x"\n'


VALUES = [
    "0",
    "-1",
    "1e308",
    "5e-324",
    "nan",
    "inf",
    "1e-300",
    "9" * 400,
    "9007199254740993",
    "1",
    "65536",
    "1e9",
    "1e-6",
]


@fuzz(80)
@given(key=st.sampled_from(sorted(load_platform("ascend910b2"))), value=st.sampled_from(VALUES))
def test_any_number_in_any_place_is_refused_or_good_for_predictions(path: Path, key: str, value: str) -> None:
    unit = load_platform("ascend910b2").numbers[key].unit
    checked(path, (CHILD + NUMBER.format(key=key, value=value, unit=unit)).encode())
