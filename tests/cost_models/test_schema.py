"""What a platform file may not say: one test a kind of error, and several at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cost_models import PlatformError, load_platform
from cost_models.keys import FAMILIES, KEYS, LINK_LEVELS, family_keys
from cost_models.platform import check_file
from cost_models.schema import SCHEMA

Write = Callable[..., Path]

SOUND = {"value": "10", "unit": '"cycles"', "kind": '"spec"', "source": '"data sheet"'}


def number(key: str = "cube.head", **fields: str | None) -> str:
    """A sound number with `fields` replaced, or left out where None."""
    merged = {**SOUND, **fields}
    return "\n".join([f"[{key}]", *(f"{name} = {text}" for name, text in merged.items() if text is not None), ""])


def only_error(path: Path) -> str:
    errors = check_file(path)
    assert len(errors) == 1, errors
    assert errors[0].startswith(f"{path}: ")
    return errors[0].removeprefix(f"{path}: ")


def test_a_sound_number_is_sound(write: Write) -> None:
    assert check_file(write(number(low="5", high="20.5", note='"why"'))) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"unit": '"B"'}, "cube.head: unit is 'B'; give one of cycles, cycles/instruction"),
        ({"unit": "[]"}, "cube.head: unit is []; give one of cycles, cycles/instruction"),
        ({"unit": None}, "cube.head: unit is missing; give one of cycles, cycles/instruction"),
        ({"kind": '"guess"'}, "cube.head: kind is 'guess'; give one of spec, measured, fitted, assumed"),
        (
            {"kind": '"override"'},
            "cube.head: kind is 'override'; give one of spec, measured, fitted, assumed",
        ),
        ({"kind": None}, "cube.head: kind is missing; give one of spec, measured, fitted, assumed"),
        ({"source": '" "'}, "cube.head: source is missing or empty; name the public source of the number"),
        ({"source": None}, "cube.head: source is missing or empty; name the public source of the number"),
        ({"note": "3"}, "cube.head: note is 3; give a text"),
        ({"value": None}, "cube.head: value is missing; give a number in one of cycles, cycles/instruction"),
        ({"value": '"10"'}, "cube.head: value is '10'; give a number"),
        ({"value": "true"}, "cube.head: value is True; give a number"),
        ({"value": "inf"}, "cube.head: value is inf; give a finite number"),
        ({"value": "nan"}, "cube.head: value is nan; give a finite number"),
        ({"value": "1" + 400 * "0"}, "cube.head: value is inf; give a finite number"),
        ({"value": "-1"}, "cube.head: value is -1; give a number of at least 0"),
        ({"low": "11"}, "cube.head: low 11 is above value 10; give a low of at most 10"),
        ({"high": "9"}, "cube.head: high 9 is below value 10; give a high of at least 10"),
        ({"low": "-2"}, "cube.head: low is -2; give a number of at least 0"),
        ({"high": '"x"'}, "cube.head: high is 'x'; give a number"),
        (
            {"vlaue": "1"},
            "cube.head: unknown field 'vlaue'; allowed are value, unit, kind, source, note, low, high",
        ),
    ],
)
def test_fields_of_a_number(write: Write, fields: dict[str, str | None], message: str) -> None:
    assert only_error(write(number(**fields))) == message


@pytest.mark.parametrize(
    ("key", "unit", "value", "message"),
    [
        ("dma.gm_to_l1.rate", "B/cycle", "0", "value is 0; give a number above 0"),
        ("dma.gm_to_l1.rate", "GB/s", "0", "value is 0; give a number above 0"),
        ("memory.ub", "KiB", "0.0001", "value is 0.0001; give a whole number of bytes"),
        ("cores.cube", "count", "2.5", "value is 2.5; give a whole number of things counted"),
        ("dma.misaligned_factor_l1", "ratio", "0.9", "value is 0.9; give a number of at least 1"),
    ],
)
def test_ranges_of_keys(write: Write, key: str, unit: str, value: str, message: str) -> None:
    assert only_error(write(number(key, unit=f'"{unit}"', value=value))) == f"{key}: {message}"


def test_zero_is_right_where_a_cost_may_be_nothing(write: Write) -> None:
    assert check_file(write(number("dma.l1_to_l0a.latency", value="0"))) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            number("dma.gm_to_l1.rte"),
            "dma.gm_to_l1.rte: unknown key (did you mean 'dma.gm_to_l1.rate'?); remove it or give a known key",
        ),
        (number("qqqq"), "qqqq: unknown key; remove it or give a known key"),
        ("[qqqq]", "qqqq: unknown key; remove it or give a known key"),
        (
            number('"cube.head"'),
            "cube.head: unknown key (did you mean 'cube.head'?); remove it or give a known key",
        ),
        ("[cube]\nhead = 5", "cube.head: is 5; give a table with value, unit, kind and source"),
        ("[dma]\ngm_to_l1 = 5", "dma.gm_to_l1: is 5; give a table of numbers, [dma.gm_to_l1.<name>]"),
    ],
)
def test_keys(write: Write, text: str, message: str) -> None:
    assert only_error(write(text)) == message


def test_a_very_deep_key_is_unknown_and_nothing_worse(write: Write) -> None:
    assert "unknown key" in only_error(write("[" + ".".join(["a"] * 60) + "]\nx = 1"))
    assert "has a key of more than 64 parts" in only_error(write("[" + ".".join(["a"] * 5000) + "]\nx = 1"))


@pytest.mark.parametrize("path_key", ["scalar.issue", "vector.exp.slope", "clock.core_mhz"])
def test_a_missing_key_says_what_it_means_and_in_which_unit(write: Write, path_key: str) -> None:
    head = '[platform]\nname = "bare"\nfamily = "a2a3"\nsoc = "x"\ndescription = "y"\n'
    texts = [
        number(key.name, value="16" if key.whole and key.name not in LINK_LEVELS else "1", unit=f'"{key.units[0]}"')
        for key in family_keys("a2a3").values()
        if key.name != path_key
    ]
    expected = f"{path_key}: is missing; give {KEYS[path_key].description} in "
    assert only_error(write("\n".join(texts), head=head)).startswith(expected)


def test_a_file_that_inherits_nothing_lists_everything_that_is_missing(write: Write) -> None:
    errors = check_file(write("", head='[platform]\nname = "bare"\n'))
    assert len(errors) == len(family_keys(None)) + 3, "without a family, what every family has"
    assert all("is missing" in error for error in errors)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_of_a_family_lists_what_that_family_misses(write: Write, family: str) -> None:
    head = f'[platform]\nname = "bare"\nfamily = "{family}"\nsoc = "x"\ndescription = "y"\n'
    missing = [error.split(": ")[1] for error in check_file(write("", head=head))]
    assert missing == list(family_keys(family))


@pytest.mark.parametrize(
    ("parent", "key", "unit", "message"),
    [
        (
            "ascend910b2",
            "fixpipe.ub_write_rate",
            "B/cycle",
            "fixpipe.ub_write_rate: is a number of family a5 only; remove it from a file of a2a3",
        ),
        (
            "ascend910b2",
            "dma.ub_to_l1.rate",
            "GB/s",
            "dma.ub_to_l1.rate: is a number of family a5 only; remove it from a file of a2a3",
        ),
        (
            "a5-published",
            "flags.counter_max",
            "count",
            "flags.counter_max: is a number of family a2a3 only; remove it from a file of a5",
        ),
    ],
)
def test_a_number_of_another_family_is_refused(write: Write, parent: str, key: str, unit: str, message: str) -> None:
    head = f'[platform]\nname = "mine"\ninherits = "{parent}"\nabstract = true\n'
    assert only_error(write(number(key, unit=f'"{unit}"'), head=head)) == message


def test_a_file_is_of_the_family_of_its_parent(write: Write) -> None:
    head = '[platform]\nname = "mine"\nfamily = "a5"\ninherits = "ascend910b2"\nabstract = true\n'
    assert only_error(write("", head=head)) == (
        "platform.family: is 'a5', but the parent is of 'a2a3'; inherit from a file of 'a5'"
    )


def test_no_scratch_is_a_size_of_zero(write: Write) -> None:
    assert check_file(write(number("memory.ub_scratch_top", unit='"B"', value="0"))) == []
    text = only_error(write(number("memory.ub_usable", unit='"B"', value="0")))
    assert text == "memory.ub_usable: value is 0; give a number above 0"


def test_a_file_may_say_which_schema_it_was_written_for(write: Write) -> None:
    head = '[platform]\nname = "mine"\ninherits = "ascend910b2"\n'
    assert load_platform(write("", head=head + f"schema = {SCHEMA}\n")).name == "mine"
    with pytest.raises(PlatformError, match=rf"platform\.schema: is {SCHEMA + 1}, .* install a newer one"):
        load_platform(write("", head=head + f"schema = {SCHEMA + 1}\n"))
    with pytest.raises(PlatformError, match=r"platform\.schema: is 'one'; give the whole number"):
        load_platform(write("", head=head + 'schema = "one"\n'))


def test_an_abstract_file_may_leave_numbers_out_but_can_not_be_loaded(write: Write) -> None:
    path = write("", head='[platform]\nname = "part"\nabstract = true\n')
    assert check_file(path) == []
    with pytest.raises(PlatformError, match=r"platform\.abstract: is true; give a file that inherits from it"):
        load_platform(path)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", "platform: no such table; give [platform] with name, family, soc, description"),
        ("platform = 3", "platform: no such table; give [platform] with name, family, soc, description"),
        (
            '[platform]\ninherits = "ascend910b2"',
            "platform.name: is missing; give the platform's name",
        ),
        (
            '[platform]\nname = "a/b"\ninherits = "ascend910b2"',
            "platform.name: is 'a/b'; give letters, digits, '.', '_' and '-' only",
        ),
        (
            '[platform]\nname = "a"\nfamily = "a7"\ninherits = "ascend910b2"',
            "platform.family: is 'a7'; give one of a2a3, a5",
        ),
        (
            '[platform]\nname = "a"\nsoc = 910\ninherits = "ascend910b2"',
            "platform.soc: is 910; give a text that is not empty",
        ),
        (
            '[platform]\nname = "a"\nabstract = "no"\ninherits = "ascend910b2"',
            "platform.abstract: is 'no'; give true or false",
        ),
        (
            '[platform]\nname = "a"\nauthor = "b"\ninherits = "ascend910b2"',
            "platform.author: unknown field; allowed are name, family, soc, description, inherits, abstract",
        ),
        (
            '[platform]\nname = "a"\ninherits = "ascend910b9"',
            "platform.inherits: unknown platform 'ascend910b9' (did you mean 'ascend910b4'?); "
            "give one of a2a3-datacopy, a2a3-gemm-ar, a2a3-gemm, a2a3-link-hixl-cs, a2a3-link-hixl, a2a3-published",
        ),
    ],
)
def test_the_platform_table(write: Write, head: str, message: str) -> None:
    errors = check_file(write("", head=head))
    text = errors[0].split(": ", 1)[1]
    assert text.startswith(message)
    assert not any("platform." in error for error in errors[1:]), "one mistake is one error"


def test_a_parent_that_is_not_there(write: Write, tmp_path: Path) -> None:
    path = write("", head='[platform]\nname = "a"\ninherits = "up/other.toml"\n')
    parent = str(tmp_path / "up" / "other.toml")
    assert only_error(path) == (f"platform.inherits: no such file {parent!r}; give the path of an existing .toml file")


def test_a_parent_is_found_beside_its_child(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(number("scalar.issue", value="9"), name="files/parent.toml")
    child = write("", name="files/child.toml", head='[platform]\nname = "c"\ninherits = "parent.toml"\n')
    monkeypatch.chdir(tmp_path)
    platform = load_platform(child)
    assert platform["scalar.issue"] == 9
    assert (platform.name, platform.soc, platform.description) == ("c", "Ascend 910B2", "a file of the user")


def test_a_circle_of_parents_is_named(write: Write) -> None:
    head = '[platform]\nname = "x"\nfamily = "a2a3"\nsoc = "x"\ndescription = "x"\ninherits = "{}"\n'
    write("", name="b.toml", head=head.format("./a.toml"))
    first = write("", name="a.toml", head=head.format("./b.toml"))
    errors = check_file(first)
    assert len(errors) == 1
    assert errors[0].endswith("inherits from this file again; give a parent outside the circle")


def test_a_file_that_inherits_from_itself(write: Write) -> None:
    path = write("", head='[platform]\nname = "x"\ninherits = "./mine.toml"\n')
    assert "inherits from this file again" in only_error(path)


def test_errors_of_a_parent_carry_the_parents_name(write: Write, tmp_path: Path) -> None:
    write(number(value="-1"), name="parent.toml")
    child = write(number(value="-2"), name="child.toml", head='[platform]\nname = "c"\ninherits = "./parent.toml"\n')
    errors = check_file(child)
    assert [error.split(": ")[0] for error in errors] == [str(child), str(tmp_path / "parent.toml")]
    assert all("cube.head" in error for error in errors)


def test_all_errors_come_at_once_and_loading_raises_them_all(write: Write) -> None:
    path = write(
        number(value="-1", unit='"B"', kind='"guess"', source='""')
        + number("scalar.isue")
        + number("memory.ub", unit='"KiB"', value="nan")
    )
    errors = check_file(path)
    assert len(errors) == 6
    with pytest.raises(PlatformError) as caught:
        load_platform(path)
    assert str(caught.value).splitlines() == errors


def test_broken_toml_is_one_sentence_with_the_line(write: Write) -> None:
    path = write('[platform\nname = "x"', head="\n\n")
    text = only_error(path)
    assert text.startswith("line 3, column ")
    assert text.endswith("; give valid TOML")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"[platform]\nname = '\xff'")
    assert only_error(path) == "byte 19 is not UTF-8; save the file as UTF-8 text"


def test_toml_nested_too_deeply(write: Write) -> None:
    text = only_error(write("x = " + 20000 * "[" + 20000 * "]", head=""))
    assert text.startswith("nested too deeply")


def test_a_file_may_price_its_own_vector_family(write: Write) -> None:
    slope = number("vector.rsqrt.slope", unit='"cycles/repeat"', value="1.07")
    path = write(slope + number("vector.rsqrt.fixed", value="24"))
    assert load_platform(path)["vector.rsqrt.slope"] == 1.07
    assert only_error(write(slope)) == (
        "vector.rsqrt.fixed: is missing; give slope and fixed of a vector family together"
    )
