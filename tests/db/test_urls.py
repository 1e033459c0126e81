"""Which URLs are understood, and that no password is ever shown."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from db import StoreError
from db.urls import parse_target, redact


def test_an_sqlite_url_is_a_file_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = parse_target("sqlite:///a b%25%20c.db")
    monkeypatch.chdir("/")
    assert target.path == tmp_path / "a b% c.db"
    assert target.shown == "sqlite:///a b%25%20c.db"


def test_without_a_url_the_environment_decides_and_then_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PTO_TUNE_DB", "sqlite:///env.db")
    assert parse_target(None).path == tmp_path / "env.db"
    assert parse_target("sqlite:///given.db").path == tmp_path / "given.db"
    for unset in ("", None):
        if unset is None:
            monkeypatch.delenv("PTO_TUNE_DB")
        else:
            monkeypatch.setenv("PTO_TUNE_DB", unset)
        assert parse_target(None).path == tmp_path / "pto-tune.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_way_to_name_postgresql_means_psycopg(scheme: str) -> None:
    target = parse_target(f"{scheme}://me:secret@host:5433/results?sslmode=require")
    assert target.path is None
    assert target.url is not None
    assert target.url.drivername == "postgresql+psycopg"
    assert (target.url.username, target.url.password, target.url.host) == ("me", "secret", "host")
    assert dict(target.url.query) == {"sslmode": "require"}
    assert target.shown == f"{scheme}://me:***@host:5433/results"


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "'' is not a database URL: write sqlite:///FILE or postgresql://USER@HOST/DATABASE"),
        ("results.db", "'results.db' is not a database URL"),
        ("postgresql//me:secret@host/db", "'postgresql//***@host/db' is not a database URL"),
        ("postgresql://me:secret@host:port/db", "is not a database URL"),
        ("mysql://me:secret@host/db", "'mysql' in 'mysql://***@host/db' is not a database that results"),
        ("postgresql+psycopg2://host/db", "'postgresql+psycopg2' in"),
        ("sqlite://file.db", "names a host, but SQLite is a file: write sqlite:///FILE"),
        ("sqlite://me:secret@/file.db", "names a host, but SQLite is a file"),
        ("sqlite://", "names no file to keep results in"),
        ("sqlite:///", "names no file to keep results in"),
        ("sqlite:///:memory:", "names no file to keep results in"),
        ("sqlite:///file:x?mode=ro", "carries options"),
        ("sqlite:///file:x", "names no file"),
        ("sqlite:///a%00b", "names no file"),
        ("sqlite:///a.db?password=secret", "carries options, which SQLite takes none of"),
        ("sqlite:///a\x00b", "is not a database URL"),
        ("sqlite:///a\nb", "is not a database URL"),
    ],
)
def test_other_urls_are_refused_in_one_sentence(url: str, sentence: str) -> None:
    with pytest.raises(StoreError) as caught:
        parse_target(url)
    message = str(caught.value)
    assert sentence in message
    assert "\n" not in message
    assert "secret" not in message


@given(
    scheme=st.sampled_from(["postgresql://", "sqlite://", "postgresql:/", "postgres//", "mysql://", "x", ""]),
    rest=st.text(alphabet="ab:/@?=&%[] 1\n", max_size=20),
)
@example(scheme="postgresql:/", rest="//@")
def test_no_text_shows_a_password_or_a_second_line(scheme: str, rest: str) -> None:
    try:
        shown = parse_target(f"{scheme}user:tops3cret@host{rest}").shown
    except StoreError as error:
        shown = str(error)
    assert "tops3cret" not in shown
    assert "\n" not in shown


def test_options_that_name_a_password_are_struck_out() -> None:
    assert redact("x://h/d?password=abc&sslpassword=def&a=1") == "x://h/d?password=***&sslpassword=***&a=1"
