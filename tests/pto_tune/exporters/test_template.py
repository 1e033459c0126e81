"""Templates of the user's own: sandboxed, bounded, and wrong ones told with their line."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.exporters import template
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.formats import Options, format_named, render, write
from pto_tune.exporters.recommendation import Recommendation

Make = Callable[..., Recommendation]

TEMPLATE = format_named("template")


def made(text: str, *recs: Recommendation) -> str:
    return render(TEMPLATE, recs, Options(template=text, template_name="my.j2"))


def test_a_template_sees_what_the_json_has(recommendation: Make) -> None:
    text = "{% for p in rec.pipes %}{{ p.name }}={{ p.slot_num }};{% endfor %}\n{{ rec.problem.s0 }} {{ schema }}\n"
    assert made(text, recommendation()) == "qk=8;p=8;pv=2;\n4096 pto-tune-recommendation/1\n"
    assert (
        made("{{ recommendations | map(attribute='run') | list }}", recommendation(), recommendation(run=4)) == "[3, 4]"
    )


def test_filters_quote_for_other_languages(recommendation: Make) -> None:
    name = 'it\'s "x" 中 ${y} \\ ??/'
    text = "{{ rec.run | json }}\n{{ rec.run | python }}\n{{ rec.run | shell }}\n{{ rec.run | c_string }}"
    as_json, as_python, as_shell, as_c = made(text, recommendation(run=name)).splitlines()
    assert as_json == '"it\'s \\"x\\" 中 ${y} \\\\ ??/"'
    assert as_python == repr(name)
    assert as_shell == "'it'\"'\"'s \"x\" 中 ${y} \\ ??/'"
    assert as_c == '"it\'s \\042x\\042 \\344\\270\\255 ${y} \\134 \\077\\077/"'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a\nb {{ rec.nothing }}\n", "my.j2:2: "),
        ("a\nb {{ nothing }}\n", "my.j2:2: 'nothing' is undefined"),
        ("a\n\n{% for %}\n", "my.j2:3: "),
        ("a\n{% endfor %}\n", "my.j2:2: "),
        ("{{ 1 / 0 }}", "my.j2:1: "),
        ("\n{{ rec.pipes[99].name }}", "my.j2:2: "),
        ("{% include 'x' %}", "my.j2:1: "),
        ("{% import '/etc/passwd' as x %}", "my.j2:1: "),
        ("\n\n{{ ''.__class__.__mro__ }}", "my.j2:3: "),
        ("{{ rec.pipes.append(1) }}", "my.j2:1: "),
        ("{{ rec.update(a=1) }}", "my.j2:1: "),
        ("{{ cycler.__init__.__globals__ }}", "my.j2:1: "),
        ("{{ rec | nothing }}", "my.j2:1: "),
        ("{{ range(10**9) | list }}", "my.j2:1: "),
    ],
)
def test_errors_name_the_line(text: str, place: str, recommendation: Make) -> None:
    with pytest.raises(ExportError) as refused:
        made(text, recommendation())
    assert str(refused.value).startswith(place)
    assert "\n" not in str(refused.value)


LOOP = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3


@pytest.mark.parametrize(
    "text", [LOOP, "{{ 9 ** (9 ** 9) }}", "{{ ('a' * 10 ** 9) * 100 }}", "{{ 'ab' | center(10**10) }}"]
)
def test_what_takes_long_or_much_ends(text: str, recommendation: Make) -> None:
    begun = time.monotonic()
    with pytest.raises(ExportError, match=r"my\.j2"):
        template.body([recommendation()], text, "my.j2", seconds=1)
    assert time.monotonic() - begun < 10


def test_a_long_text_ends(recommendation: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "MOST_CHARACTERS", 1000)
    with pytest.raises(ExportError, match="makes more than 1,000 characters"):
        made("{% for i in range(2000) %}{{ i }}{% endfor %}", recommendation())


def test_the_file_that_it_reads_is_bounded_and_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "中 ${x}.j2"
    path.write_bytes("a\n中".encode())
    assert template.read_template(path) == "a\n中"
    path.write_bytes(b"a\n\xff")
    with pytest.raises(ExportError, match=r"\.j2:2: not UTF-8"):
        template.read_template(path)
    monkeypatch.setattr(template, "MOST_BYTES", 2)
    with pytest.raises(ExportError, match="larger than"):
        template.read_template(path)


def test_a_file_with_a_signature_may_be_replaced_and_one_without_only_by_force(
    recommendation: Make, tmp_path: Path
) -> None:
    signed, bare = tmp_path / "signed.txt", tmp_path / "bare.txt"
    for us in (1.0, 2.0):
        rec = recommendation(predicted_us=us)
        write(TEMPLATE, [rec], signed, Options(template="# {{ content_sha256 }}\n{{ rec.predicted_us }}\n"))
    assert signed.read_text().splitlines()[1] == "2.0"
    signed.write_text(signed.read_text() + "mine\n")
    with pytest.raises(ExportError, match="was changed by hand"):
        write(TEMPLATE, [recommendation()], signed, Options(template="# {{ content_sha256 }}\n"))
    plain = Options(template="{{ rec.predicted_us }}\n")
    write(TEMPLATE, [recommendation()], bare, plain)
    write(TEMPLATE, [recommendation()], bare, plain)  # the same bytes
    with pytest.raises(ExportError, match="was not written by pto-tune"):
        write(TEMPLATE, [recommendation(predicted_us=3.0)], bare, plain)
    write(TEMPLATE, [recommendation(predicted_us=3.0)], bare, plain, force=True)


def test_a_signature_stands_there_once(recommendation: Make) -> None:
    with pytest.raises(ExportError, match="stands there twice"):
        made("{{ content_sha256 }} {{ content_sha256 }}", recommendation())


def test_without_a_template_there_is_no_text(recommendation: Make) -> None:
    with pytest.raises(ExportError, match="no template is given"):
        render(TEMPLATE, [recommendation()])
