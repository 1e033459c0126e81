"""The platforms that come with the package, and loading them by name and by path."""

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cost_models
from cost_models import Platform, PlatformError, load_platform, platform_names
from cost_models.keys import FAMILIES, KEYS, KINDS, OPTIONAL_KEYS, VECTOR_FAMILIES, family_keys
from cost_models.platform import check_file
from cost_models.schema import builtin_files

NAMES = ["ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910c", "ascend950dt", "ascend950pr"]
ONLY_A5 = {f"dma.ub_to_l1.{part}" for part in ("startup", "burst", "rate", "latency")} | {
    f"fixpipe.{name}" for name in ("ub_write_rate", "ub_latency")
}
#: the links of a family, whose numbers the other has none of
LINKS = {"a2a3": ("link.hccs.", "link.roce.", "bulk.hccs.", "bulk.roce."), "a5": ("link.ub.",)}

Write = Callable[..., Path]


@pytest.mark.parametrize(
    "base", ["a2a3-published", "a2a3-link-hixl", "a5-published", "ascend910c-base", "ascend910c-link-hixl"]
)
def test_an_abstract_base_is_not_a_choice(base: str) -> None:
    assert platform_names() == NAMES
    assert base in builtin_files()
    with pytest.raises(PlatformError, match=f"'{base}' is abstract: choose one of ascend910b1"):
        load_platform(base)


@pytest.mark.parametrize("path", builtin_files().values(), ids=lambda p: p.stem)
def test_every_shipped_file_is_sound_and_bears_its_own_name(path: Path) -> None:
    assert check_file(path) == []
    if path.stem in NAMES:
        assert load_platform(path).name == path.stem


@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_complete_and_in_its_range(name: str) -> None:
    platform = load_platform(name)
    known = list(family_keys(platform.family))
    assert list(platform.numbers)[: len(known)] == known
    assert set(platform.numbers) - set(known) <= (OPTIONAL_KEYS.keys() if name == "ascend910c" else set())
    for key, number in platform.numbers.items():
        assert number.key == key
        assert number.source.strip(), key
        assert number.kind in KINDS
        of = (KEYS | OPTIONAL_KEYS)[key]
        assert of.range_error(number.base) is None
        assert number.base_unit == of.base_unit
        if number.base_low is not None:
            assert number.base_low <= number.base
        if number.base_high is not None:
            assert number.base_high >= number.base
        if number.kind == "assumed":
            assert number.source.startswith("assumed: "), f"{key} says in its source that and why it is assumed"


def test_families_differ_in_few_numbers() -> None:
    assert FAMILIES == ("a2a3", "a5")
    a2a3, a5 = family_keys("a2a3").keys(), family_keys("a5").keys()
    assert {key for key in a5 - a2a3 if not key.startswith(LINKS["a5"])} == ONLY_A5
    assert {key for key in a2a3 - a5 if not key.startswith(LINKS["a2a3"])} == {"flags.counter_max"}, (
        "the width of a counter is not published for Ascend 950"
    )
    assert a2a3 & a5 == family_keys(None).keys()
    assert a2a3 | a5 == KEYS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_a_platform_is_of_the_family_of_its_name(name: str) -> None:
    platform = load_platform(name)
    assert platform.family == ("a5" if "950" in name else "a2a3")
    assert ("flags.counter_max" in platform) == (platform.family == "a2a3")
    assert set(platform) & ONLY_A5 == (ONLY_A5 if platform.family == "a5" else set())


def test_a_number_of_another_family_can_not_be_overridden(b2: Platform) -> None:
    with pytest.raises(
        PlatformError, match=r"override fixpipe\.ub_write_rate: platform 'ascend910b2' has no such number"
    ):
        b2.with_values({"fixpipe.ub_write_rate": 128})


# hw-native-sys/pto-isa kernels/manual/common/flash_atten/scripts/fa_cost_model.py (clocks, cores of 910B);
# cannmirror/asc-devkit docs/zh (L2 of 910B2 and 910B4); 910C is assumed to be as 910B1;
# hicann/pypto framework/src/platform/parser/simulation_platform/platform_config (950)
@pytest.mark.parametrize(
    ("name", "clock_mhz", "cube_cores", "l2_mib"),
    [("ascend910b1", 1850, 24, 192), ("ascend910b2", 1800, 24, 192), ("ascend910b3", 1800, 20, 192),
     ("ascend910b4", 1500, 20, 96), ("ascend910c", 1850, 24, 192),
     ("ascend950pr", 1650, 32, 128), ("ascend950dt", 1650, 32, 128)],
)  # fmt: skip
def test_socs_differ_in_clock_cores_and_l2(name: str, clock_mhz: int, cube_cores: int, l2_mib: int) -> None:
    platform = load_platform(name)
    assert platform["clock.core_mhz"] == clock_mhz
    assert platform["cores.cube"] == cube_cores
    assert platform["cores.vector_per_cube"] == 2
    assert platform["memory.l2"] == l2_mib * 1048576


def test_910b4_has_half_the_hbm_of_910b1() -> None:
    b1, b4 = load_platform("ascend910b1").numbers, load_platform("ascend910b4").numbers
    # of 1490, as a cost model has it; that of 910B1 is fitted
    assert b4["hbm.bandwidth"].value == pytest.approx(b1["hbm.bandwidth"].value / 2, rel=0.005)


# hw-native-sys/pto-isa include/pto/common/buffer_limits.hpp
def test_memories_are_bytes_inside(b2: Platform) -> None:
    kib = {"ub": 192, "ub_usable": 192, "ub_scratch_top": 8, "l1": 512, "l0a": 64, "l0b": 64, "l0c": 128}
    assert {name: b2[f"memory.{name}"] for name in kib} == {name: 1024 * size for name, size in kib.items()}


# the same; hw-native-sys/pypto src/backend/common/soc.cpp (240 KiB)
@pytest.mark.parametrize("name", ["ascend950pr", "ascend950dt"])
def test_memories_of_950(name: str) -> None:
    platform = load_platform(name)
    kib = {"ub": 256, "ub_usable": 240, "ub_scratch_top": 0, "l1": 512, "l0a": 64, "l0b": 64, "l0c": 256}
    assert {name: platform[f"memory.{name}"] for name in kib} == {name: 1024 * size for name, size in kib.items()}


@pytest.mark.parametrize("name", NAMES)
def test_programs_may_use_no_more_than_there_is(name: str) -> None:
    platform = load_platform(name)
    assert 0 <= platform["memory.ub_scratch_top"] < platform["memory.ub_usable"] <= platform["memory.ub"]


def test_bandwidths_become_bytes_a_cycle_of_the_own_clock(b1: Platform, b2: Platform) -> None:
    assert b1["l2.bandwidth"] == pytest.approx(7000e9 / 1850e6)
    assert b2["l2.read_bandwidth"] == pytest.approx(5200e9 / 1800e6)
    number = b2.numbers["l2.read_bandwidth"]
    assert (number.value, number.unit, number.base_unit) == (5200, "GB/s", "B/cycle")
    assert number.base_low == pytest.approx(4940e9 / 1800e6)
    assert number.base_high == pytest.approx(5960e9 / 1800e6)


def test_gib_are_binary(write: Write) -> None:
    path = write('[l2.bandwidth]\nvalue = 5000\nunit = "GiB/s"\nkind = "spec"\nsource = "data sheet"')
    assert load_platform(path)["l2.bandwidth"] == pytest.approx(5000 * 2**30 / 1800e6)


def test_unknown_name_names_the_choices_and_the_nearest() -> None:
    with pytest.raises(PlatformError) as caught:
        load_platform("ascend910b22")
    text = str(caught.value)
    assert text.startswith("unknown platform 'ascend910b22': choose one of ascend910b1, ")
    assert "(did you mean 'ascend910b2'?)" in text
    assert text.endswith("or give a path to a .toml file")


def test_a_name_without_anything_near_has_no_suggestion() -> None:
    with pytest.raises(PlatformError) as caught:
        load_platform("zzz")
    assert "did you mean" not in str(caught.value)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "none.toml")
    with pytest.raises(PlatformError, match=r"no such file; give the path of an existing \.toml file") as caught:
        load_platform(path)
    assert path in str(caught.value)


@pytest.mark.parametrize("reference", ["./ascend910b2", "sub/ascend910b2", "ascend910b2.toml"])
def test_separator_or_suffix_make_a_path(reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlatformError, match="no such file"):
        load_platform(reference)


def test_a_folder_is_not_a_platform(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="cannot be read"):
        load_platform(f"{tmp_path}{os.sep}")


def test_a_users_file_works_by_path(write: Write, b2: Platform) -> None:
    path = write('[scalar.issue]\nvalue = 7\nunit = "cycles"\nkind = "measured"\nsource = "own board"')
    mine = load_platform(str(path))
    assert mine["scalar.issue"] == 7
    assert mine.name == "mine"
    assert mine.source_path == str(path)
    assert {key for key in b2 if mine[key] != b2[key]} == {"scalar.issue"}
    assert load_platform(path) == mine


def test_hash_shows_content_and_not_place(write: Write) -> None:
    first = write("", name="a/mine.toml")
    second = write("", name="b/mine.toml")
    assert load_platform(first).sha256 == load_platform(second).sha256
    third = write('[scalar.issue]\nvalue = 4\nunit = "cycles"\nkind = "measured"\nsource = "own board"')
    assert load_platform(third).sha256 != load_platform(first).sha256, "another origin is another platform"


def test_an_inherited_change_shows_in_the_hash(write: Write) -> None:
    number = '[scalar.issue]\nvalue = {}\nunit = "cycles"\nkind = "assumed"\nsource = "guess"'
    write(number.format(5), name="parent.toml")
    head = '[platform]\nname = "child"\ninherits = "./parent.toml"\n'
    child = write("", name="child.toml", head=head)
    before = load_platform(child)
    write(number.format(6), name="parent.toml")
    after = load_platform(child)
    assert (before["scalar.issue"], after["scalar.issue"]) == (5, 6)
    assert before.sha256 != after.sha256
    assert before != after


def test_overrides_are_in_base_units_and_say_what_they_are() -> None:
    plain = load_platform("ascend910b2")
    other = load_platform("ascend910b2", {"dma.gm_to_l1.rate": 50, "memory.ub": 65536})
    assert other["dma.gm_to_l1.rate"] == 50
    assert other["memory.ub"] == 65536
    number = other.numbers["dma.gm_to_l1.rate"]
    assert number.kind == "override"
    assert f"{plain.numbers['dma.gm_to_l1.rate'].value:g} B/cycle" in number.note
    assert plain["dma.gm_to_l1.rate"] != 50
    assert other.sha256 != plain.sha256


def test_another_clock_rescales_what_is_stated_a_second(b2: Platform) -> None:
    slow = b2.with_values({"clock.core_mhz": 900})
    assert slow["l2.bandwidth"] == pytest.approx(2 * b2["l2.bandwidth"])
    assert slow["dma.gm_to_l1.rate"] == b2["dma.gm_to_l1.rate"]


def test_wrong_overrides_are_reported_together(b2: Platform) -> None:
    with pytest.raises(PlatformError) as caught:
        b2.with_values({"dma.gm_to_l1.rat": 1.0, "cube.head": -1.0, "l2.bandwidth": float("nan"), "cores.cube": 2.5})
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert "did you mean 'dma.gm_to_l1.rate'?" in lines[0]
    assert lines[1] == "override cube.head: is -1; give a number of at least 0"
    assert "give a finite number" in lines[2]
    assert "whole number" in lines[3]


def test_an_unknown_number_is_a_platform_error_with_the_nearest(b2: Platform) -> None:
    with pytest.raises(PlatformError, match=r"no number 'cube.haed' \(did you mean 'cube.head'\?\)"):
        b2["cube.haed"]
    assert "cube.head" in b2
    assert "cube.haed" not in b2


def test_a_platform_can_not_be_changed_but_copied(b2: Platform) -> None:
    with pytest.raises(TypeError):
        b2.numbers["cube.head"] = b2.numbers["cube.k0_bytes"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        b2.name = "other"  # type: ignore[misc]
    for twin in (copy.copy(b2), copy.deepcopy(b2)):
        assert twin == b2
        assert hash(twin) == hash(b2)
        assert twin.numbers == b2.numbers


def test_every_vector_family_has_slope_and_fixed() -> None:
    for family in VECTOR_FAMILIES:
        assert {f"vector.{family}.slope", f"vector.{family}.fixed"} <= KEYS.keys()


def test_importing_the_room_imports_nothing_heavy() -> None:
    code = (
        "import sys, cost_models; assert cost_models.PTO_TUNE_ROOM == 'cost_models'; "
        "sys.exit(any(name.split('.')[0] in ('numpy', 'tomllib') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_room_has_no_other_names() -> None:
    assert set(cost_models.__all__) == set(dir(cost_models))
    with pytest.raises(AttributeError):
        cost_models.load_platfrom  # noqa: B018
