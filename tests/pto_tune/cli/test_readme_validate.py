"""The accuracy that the README states is the one that the command prints."""

from pathlib import Path

import pytest

from pto_tune.validating.report import validate
from pto_tune.validating.text import markdown

README = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
BEGIN, END = "<!-- validate -->", "<!-- /validate -->"


@pytest.mark.skipif(BEGIN not in README, reason="the README has no such section")
def test_the_readme_has_what_the_command_prints() -> None:
    shown = README.partition(BEGIN)[2].partition(END)[0]
    assert shown.strip() == markdown(validate()).strip()
