"""CMake caches and compile definitions: what a build reads from them is what was recommended."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.exporters.build_files import bracketed, prefix_fault
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.formats import Options, format_named, render, write
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation
from pto_tune.model.nodes import TConfig

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]
Compile = Callable[..., str]

CMAKE, DEFINITIONS = format_named("cmake"), format_named("definitions")


@pytest.fixture(scope="session")
def cmake() -> str:
    found = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("cmake is missing: the caches have to be read here")
        pytest.skip("cmake is missing")
    return found


@pytest.fixture
def variables(cmake: str, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The variables of a project that was configured with a recommendation as its initial cache."""

    def configured(rec: Recommendation, prefix: str = "PTO_TUNE") -> dict[str, str]:
        source = tmp_path / "source"
        source.mkdir(exist_ok=True)
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\n"
            f'file(WRITE "${{CMAKE_BINARY_DIR}}/run.txt" "${{{prefix}_RUN}}")\n'
        )
        cache = write(CMAKE, [rec], tmp_path / "rec.cmake", Options(prefix=prefix), force=True)
        build = tmp_path / "build"
        shutil.rmtree(build, ignore_errors=True)
        subprocess.run(
            [cmake, "-S", source, "-B", build, "-C", cache], check=True, capture_output=True, text=True, timeout=120
        )
        lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
        found = dict(line.split(":STRING=", 1) for line in lines if line.startswith(prefix))
        assert (build / "run.txt").read_text(encoding="utf-8") == found[f"{prefix}_RUN"]
        return found

    return configured


def test_a_build_reads_the_constants(recommendation: Make, variables: Callable[..., dict[str, str]]) -> None:
    found = variables(recommendation(run="first"))
    expected = {
        "WORKLOAD": "flash_attention", "RUN": "first", "CUBE_S0": "128", "Qk_FifoDepth": "8", "Qk_SyncPeriod": "4",
        "Pv_SyncPeriod": "2", "P_Direction": "DIR_V2C", "Qk_IsNoSplit": "false", "Qk_Split": "TILE_UP_DOWN",
        "Qk_GM_SLOT_BUFFER_Bytes": "1048576", "PROBLEM": "causal=0;head=128;s0=4096;s1=4096", "PREDICTED_US": "88.9",
    }  # fmt: skip
    assert {name: found[f"PTO_TUNE_{name}"] for name in expected} == expected
    definitions = found["PTO_TUNE_DEFINITIONS"].split(";")
    assert "PTO_TUNE_CUBE_S0=128" in definitions
    assert "PTO_TUNE_Qk_Direction=DIR_C2V" in definitions


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "it's",
        'say "x"',
        "中文 🚀",
        "${HOME} $ENV{X} @x@",
        "a\\",
        "a\\;b",
        "x]==]y]=",
        "]",
        "# [[ ]]",
        "a;b",
        "x]=",
    ],
    ids=ascii,
)
def test_names_reach_a_build_as_they_are(
    name: str, recommendation: Make, variables: Callable[..., dict[str, str]]
) -> None:
    assert variables(recommendation(run=name))["PTO_TUNE_RUN"] == name


@pytest.mark.parametrize("name", [" x", "x ", "'x'", "a\nb", "a\x00", "\x1b[0m"], ids=ascii)
def test_names_that_a_cache_would_lose_are_refused(name: str, recommendation: Make) -> None:
    with pytest.raises(ExportError, match="PTO_TUNE_RUN would be"):
        render(CMAKE, [recommendation(run=name)])


def test_a_tunable_does_not_take_a_variable_of_the_export(recommendation: Make) -> None:
    with pytest.raises(ExportError, match="'WORKLOAD': PTO_TUNE_WORKLOAD is a variable of the export"):
        render(CMAKE, [recommendation(constants={"workload": 1})])


@pytest.mark.parametrize("text", ["", "a", "]", "]]", "]=]", "]==", "x]=", "]=]]==]"])
def test_a_bracket_argument_ends_where_the_text_ends(text: str) -> None:
    found = bracketed(text)
    equals = found[: found.index("[", 1)].removeprefix("[")
    close = f"]{equals}]"
    assert found == f"[{equals}[{text}{close}"
    assert found.index(close, len(equals) + 2) == len(equals) + 2 + len(text)


def test_the_compiler_reads_definitions_from_the_file(
    recommendation: Make, pipe: MakePipe, compiler_says: Compile, tmp_path: Path
) -> None:
    rec = recommendation(pipes=(pipe("qk"), pipe("out", flag_id=4, configs=(TConfig(quant="F322F16"),))))
    path = write(DEFINITIONS, [rec], tmp_path / "with blank.rsp", Options(prefix="FA"))
    source = """
    using Pipe = pto::TPipe<FA_Qk_FlagID, pto::Direction::FA_Qk_Direction, FA_Qk_SlotSize, FA_Qk_FifoDepth,
                            FA_Qk_LocalSlotNum, FA_Qk_IsNoSplit, FA_Qk_EN_UNIT_FLAG>;
    static_assert(Pipe::SyncPeriod == FA_Qk_SyncPeriod && FA_CUBE_S0 == 128);
    static_assert(QuantMode_t::FA_Out_QuantPre == F322F16 && pto::TileSplitAxis::FA_Qk_Split == pto::TILE_UP_DOWN);
    """
    assert compiler_says(source, f"@{path}") == ""


@pytest.mark.parametrize("prefix", ["", "1A", "A B", "A-B", "__A", "class", "größe", "${X}"])
def test_a_prefix_is_an_identifier(prefix: str, recommendation: Make) -> None:
    assert prefix_fault(prefix) is not None
    for form in (CMAKE, DEFINITIONS):
        with pytest.raises(ExportError, match="is not an identifier"):
            render(form, [recommendation()], Options(prefix=prefix))
    assert prefix_fault("FA") is None
