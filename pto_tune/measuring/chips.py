"""Which platform and family the chip of a measurement is, from how a person or a tool writes it.

A chip becomes a platform only where its text names exactly one of them without a further suffix: `Ascend910B2` is
`ascend910b2`, while `Ascend910B2C`, `Ascend950PR_9579` and `910B` have other or unknown numbers of cores and are known
by their family alone, unless the platform is given too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.measuring.faults import RowError, quoted

if TYPE_CHECKING:
    from cost_models.platform import Platform

# How chips of a family are called: by SoC, by product generation, by architecture.
_FAMILY_WORDS = {
    "a2a3": re.compile(r"910b|910c|910_93\d\d|(?<![a-z0-9])(?:a2a3|a2|a3)(?![a-z0-9])|dav[-_ ]?2201"),
    "a5": re.compile(r"(?<!\d)950(?!\d)|(?<![a-z0-9])a5(?![a-z0-9])|dav[-_ ]?3510"),
}


@dataclass(frozen=True)
class Chip:
    """A chip as it was written, its family, and the platform that it is, if one."""

    soc: str
    family: str
    platform: str | None


class Chips:
    """The chips that are known: the built-in platforms and one of a file, if given.

    Args:
        own: a platform that is not built in; its name may stand in a column `platform`.
    """

    def __init__(self, own: Platform | None = None) -> None:
        from cost_models.platform import load_platform, platform_names

        self._built_in = {name: load_platform(name) for name in platform_names()}
        self._named = {**self._built_in, **({} if own is None else {own.name: own})}
        self.families = tuple(dict.fromkeys(platform.family for platform in self._built_in.values()))
        self._words = {
            name: re.compile(rf"(?<![a-z0-9]){_loose(platform.soc)}(?![a-z0-9]|[-_][a-z0-9])")
            for name, platform in self._built_in.items()
        }

    def find(self, platform: str, soc: str) -> Chip:
        """The chip of a row.

        Args:
            platform: a platform's name, a family, or nothing.
            soc: the chip in any words, or nothing.

        Raises:
            RowError: neither is given, an unknown platform, or a chip that is unknown or another one.
        """
        families, matched = self._recognise(soc)
        if platform in self.families:
            return self._of_family(platform, soc or platform, families, matched)
        if platform:
            return self._of_platform(platform, soc, families, matched)
        if not soc:
            raise RowError("the chip is missing: give it in a column 'platform' or 'soc', or by --platform")
        if len(families) != 1:
            which = "several families" if families else "no family"
            raise RowError(
                f"soc {quoted(soc)} names {which} of chips: write for example 'Ascend 910B2', or give the platform, "
                f"one of {', '.join((*self.families, *self._named))}"
            )
        return Chip(soc, families[0], matched)

    def _of_family(self, family: str, soc: str, families: tuple[str, ...], matched: str | None) -> Chip:
        if families and family not in families:
            raise RowError(f"soc {quoted(soc)} is not of the family {family}: correct one of the two")
        return Chip(soc, family, matched if families == (family,) else None)

    def _of_platform(self, platform: str, soc: str, families: tuple[str, ...], matched: str | None) -> Chip:
        found = self._named.get(platform)
        if found is None:
            from difflib import get_close_matches

            close = get_close_matches(platform, self._named, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise RowError(
                f"unknown platform {quoted(platform)}{hint}: choose one of "
                f"{', '.join((*self.families, *self._named))}, or give a file of your own by --platform"
            )
        other_chip = matched is not None and platform in self._built_in and matched != platform
        if other_chip or (families and found.family not in families):
            raise RowError(f"soc {quoted(soc)} is not the chip of platform {platform}: correct one of the two")
        return Chip(soc or found.soc, found.family, platform)

    def _recognise(self, soc: str) -> tuple[tuple[str, ...], str | None]:
        """The families that a text names, and the platform where it names exactly one."""
        folded = soc.casefold()
        families = tuple(family for family in self.families if _FAMILY_WORDS[family].search(folded))
        named = [name for name, words in self._words.items() if words.search(folded)]
        return families, named[0] if len(named) == 1 and len(families) == 1 else None


def _loose(soc: str) -> str:
    """A pattern for a platform's chip, `Ascend 910B2`, with or without `Ascend`, written together or apart."""
    words = soc.casefold().split()
    return rf"(?:ascend[-_ ]?)?{''.join(re.escape(word) for word in words if word != 'ascend')}"
