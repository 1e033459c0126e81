"""Names of runs: what may be one, what a run is called by default, which names are near."""

import difflib
import unicodedata
from collections.abc import Iterable

from db.errors import StoreError, shorten

LONGEST_NAME = 200
LATEST = "latest"

# Control characters, lone surrogates, line and paragraph separators.
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def normal_name(name: str) -> str:
    """``name`` in the one form in which names are kept and compared (Unicode NFC)."""
    return unicodedata.normalize("NFC", name)


def has_control_characters(text: str) -> bool:
    """Whether ``text`` has characters that no name may have (joiners inside emoji are none of them)."""
    return any(unicodedata.category(character) in _UNPRINTABLE for character in text)


def check_name(name: str) -> str:
    """``name`` in its normal form.

    Raises:
        StoreError: it is empty, too long, has control characters, or reads as a number or as ``latest``.
    """
    if not isinstance(name, str):
        raise StoreError(f"a run's name must be text, not {type(name).__name__}")
    quoted = shorten(repr(name), 80)
    if not name.strip():
        raise StoreError("a run's name must not be empty: give it at least one letter")
    if has_control_characters(name):
        raise StoreError(f"the run name {quoted} has control characters: leave them out")
    name = normal_name(name)
    if len(name) > LONGEST_NAME:
        raise StoreError(f"the run name {quoted} has {len(name)} characters: use at most {LONGEST_NAME}")
    bare = name.strip()
    if bare.isdigit():
        raise StoreError(f"the run name {quoted} reads as a run's number: add a letter")
    if bare.casefold() == LATEST:
        raise StoreError(f"the run name {quoted} stands for the newest run: choose another")
    return name


def default_name(workload: str, platform: str, number: int, attempt: int = 1) -> str:
    """``workload-platform-number``, with a further number from the second attempt on."""
    ending = f"-{number}" if attempt == 1 else f"-{number}-{attempt}"
    base = "".join(
        character
        for character in normal_name(f"{workload}-{platform}")
        if unicodedata.category(character) not in _UNPRINTABLE
    )
    return base[: LONGEST_NAME - len(ending)] + ending


def nearest_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names most like ``name``, or the first ones where none is like it."""
    known = list(names)
    by_folded = {known_name.casefold(): known_name for known_name in known}
    near = difflib.get_close_matches(name.casefold()[:LONGEST_NAME], by_folded, n=count, cutoff=0.5)
    return [by_folded[folded] for folded in near] or known[:count]
