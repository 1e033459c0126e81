"""From a workload's names to C++ identifiers.

Workload names are words joined by `_`, `-`, `.` or blanks. A pipe's prefix joins them with a capital first
letter each (`qk` is `Qk`, `exp_max` is `ExpMax`), so that its members read like the ISA's own names
(`Qk_FifoDepth`). A constant joins them by `_` in capitals (`cube_s0` and `CUBE_S0` are `CUBE_S0`). What is
then no identifier that a program may define is None here, and refused by the caller.
"""

from __future__ import annotations

import hashlib
import re

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SEPARATORS = re.compile(r"[_\-. ]+")

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
    class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires return short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true try typedef typeid typename union
    unsigned using virtual void volatile wchar_t while xor xor_eq
"""
CPP_KEYWORDS = frozenset(_KEYWORDS.split())
"""Keywords and alternative tokens of C++20, which include those of C++17 (ISO/IEC 14882:2020, 5.5, 5.11)."""

# Object-like macros of <cstdint> and <cstddef>, and what compilers in GNU mode define without underscores.
_MACROS = re.compile(
    r"U?INT(_LEAST|_FAST)?(8|16|32|64)_(MIN|MAX|WIDTH|C)|U?INT(MAX|PTR)_(MIN|MAX|WIDTH|C)"
    r"|(PTRDIFF|SIZE|SIG_ATOMIC|WCHAR|WINT)_(MIN|MAX|WIDTH)|NULL|EOF|linux|unix|i386"
)


def is_identifier(text: str) -> bool:
    """Whether a program may define `text`: ASCII, starts with a letter, no `__`, no keyword or macro."""
    return (
        _IDENTIFIER.fullmatch(text) is not None
        and "__" not in text
        and text not in CPP_KEYWORDS
        and _MACROS.fullmatch(text) is None
    )


def pipe_prefix(name: str) -> str | None:
    """Prefix of a pipe's constants, `exp_max` -> `ExpMax`; None where no identifier comes out."""
    words = _SEPARATORS.split(name)
    return _checked(name, "".join(word[:1].upper() + word[1:] for word in words))


def constant_name(name: str) -> str | None:
    """Name of a workload constant, `cube_s0` -> `CUBE_S0`; None where no identifier comes out."""
    return _checked(name, "_".join(word for word in _SEPARATORS.split(name) if word).upper())


def namespace_fault(namespace: str) -> str | None:
    """What is wrong with a namespace such as `a` or `a::b`; None where nothing is.

    `std` and `pto` are refused as a part: the header names both from inside its own namespace.
    """
    for part in namespace.split("::"):
        if not is_identifier(part):
            return f"{part!r} is not a C++ identifier that a program may define"
        if part in ("std", "pto"):
            return f"{part!r} belongs to a library"
    return None


def include_guard(namespace: str) -> str:
    """Macro of the include guard. The digest keeps apart what capitals make equal (`a_b`, `A_B`, `a::b`)."""
    words = [word for word in re.split(r"_|::", namespace) if word]
    digest = hashlib.sha256(namespace.encode()).hexdigest()[:8].upper()
    return f"{'_'.join(words).upper()}_{digest}_HPP"


def _checked(name: str, identifier: str) -> str | None:
    # Before the mapping: capitals of letters outside ASCII can lie inside it (the dotless i).
    return identifier if name.isascii() and is_identifier(identifier) else None
