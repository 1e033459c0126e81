"""Templates of anybody's: a text, or an error with its line. They reach nothing but what they are given."""

from __future__ import annotations

from typing import Any

import pytest
from fuzzing import TEXTS, assert_sentences, fuzz, in_time
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.exporters import template, template_child
from pto_tune.exporters.checks import ExportError

DATA: dict[str, Any] = {
    "schema": "x",
    "rec": {"name": "stream", "values": {"fifo_depth": 8}, "cycles": 100, "list": [1, 2, 3], "none": None},
    "recommendations": [{"name": "stream"}],
    "content_sha256": "content_sha256: " + "0" * 64,
}
names = st.sampled_from(
    [
    "rec", "rec.name", "rec.values", "rec['list']", "rec.nothing", "nothing", "loop.index", "schema", "1", "'a'",
    "0.5", "range(9)", "rec.__class__", "''.__class__.__mro__", "self", "cycler", "namespace()", "lipsum()",
    "joiner", "dict()", "(1).__class__", "rec.update", "rec['list'].append(1)", "'{0.__class__}'.format(1)",
    "recommendations[9]",
]
)  # fmt: skip
filters = st.sampled_from(
    [
    "json", "python", "shell", "c_string", "upper", "length", "first", "join(',')", "tojson", "int", "map('x')",
    "sum", "xx", "attr('__class__')", "format(1)", "truncate(0)", "indent(-1)", "center(50)", "groupby('x')",
    "batch(0)", "round('x')",
]
)  # fmt: skip
expressions = st.recursive(
    names,
    lambda inner: (
        st.builds(lambda e, f: f"{e}|{f}", inner, filters)
        | st.builds(
            lambda a, op, b: f"({a} {op} {b})",
            inner,
            st.sampled_from(["+", "-", "/", "//", "%", "==", "in", "~"]),
            inner,
        )
        | st.builds(lambda a, b: f"{a}[{b}]", inner, inner)
    ),
    max_leaves=5,
)
pieces = st.one_of(
    st.sampled_from(TEXTS),
    expressions.map(lambda e: "{{ " + e + " }}"),
    st.builds(lambda e, body: f"{{% for x in {e} %}}{body}{{% endfor %}}\n", expressions, st.sampled_from(TEXTS)),
    st.builds(lambda e: f"{{% if {e} %}}x{{% endif %}}", expressions),
    st.sampled_from(
        ["{% endfor %}", "{% for", "{{", "}}", "{% include '/etc/passwd' %}", "{% import 'os' as os %}", "\r\n", "\n",
         "{% extends 'x' %}", "{% set x = 1 %}", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{% raw %}", "{# ",
         "{% do 1 %}", "{{ [1]|map(attribute='__class__')|list }}"]
    ),
)  # fmt: skip
templates = st.lists(pieces, max_size=6).map("".join)


@fuzz(250)
@given(source=templates | st.text(max_size=60))
def test_any_template_makes_a_text_or_an_error_with_its_line(source: str) -> None:
    with in_time():
        answer = template_child.render(source, DATA, 10_000)
    if "text" in answer:
        assert len(answer["text"]) <= 10_000
        assert "<class 'int'" not in answer["text"]
        assert "<class 'str'" not in answer["text"]
        assert "root:" not in answer["text"]
        return
    assert answer["error"].strip()
    assert len(answer["error"]) < 4_000
    lines = source.count("\n") + source.count("\r") + 1
    assert answer["line"] is None or 1 <= answer["line"] <= lines


HOSTILE = [
    "{{ 'a' * 10**10 }}",
    "{% for x in range(99999) %}{% for y in range(99999) %}{% endfor %}{% endfor %}",
    "{% for x in range(99999) %}{{ 'a' * 9999 }}{% endfor %}",
    "{{ 9**(9**9) }}",
    "{{ '%9999999999d'|format(1) }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
]


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_template_ends_in_an_error(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "plain", lambda _: DATA["rec"])
    with in_time(), pytest.raises(ExportError) as caught:
        template.body([None], source, "theirs.j2", seconds=2)  # type: ignore[list-item]
    assert_sentences(str(caught.value))
    assert str(caught.value).startswith("theirs.j2")
