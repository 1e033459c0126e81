"""The configuration file: options that somebody always gives, below the command line and the environment.

A TOML file. Keys above the first table hold for every command that has such an option, a table holds for the command
that it names (`[tune]`, `[runs.list]`), and wins:

    db = "sqlite:///team.db"
    platform = "ascend910c"
    [tune]
    top = 5

`PTO_TUNE_CONFIG` names the file ("" for none); else it is `pto-tune.toml` in the current folder, else
`pto-tune/config.toml` in the user's folder of settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

VARIABLE = "PTO_TUNE_CONFIG"
LOCAL = "pto-tune.toml"
MAX_BYTES = 64 * 1024

_PLAIN = (str, int, float, bool)


class SettingsError(ValueError):
    """A configuration file that cannot be used."""


def file() -> Path | None:
    """The configuration file; None where there is none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return next((path for path in (Path(LOCAL), Path(base) / "pto-tune" / "config.toml") if path.is_file()), None)


def defaults(root: Any) -> dict[str, Any]:
    """Defaults of every option of the command line `root`, as its parser takes them: by command and parameter.

    Errors: SettingsError with everything that is wrong in the file.
    """
    path = file()
    if path is None:
        return {}
    wrong: list[str] = []
    found: dict[str, Any] = _of_group(root, read(path), {}, "", wrong)
    if wrong:
        raise SettingsError("\n".join(f"{path}: {one}" for one in wrong))
    return found


def read(path: Path) -> dict[str, Any]:
    """The file's tables. Errors: SettingsError, OSError."""
    import tomllib

    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise SettingsError(f"{path}: larger than {MAX_BYTES // 1024} KiB, which is no configuration file")
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: not TOML ({error})") from None


def _of_group(group: Any, table: Mapping[str, Any], above: Mapping[str, Any], at: str, wrong: list[str]) -> Any:
    """Defaults of a group's own options and of its commands; `above` holds what stands outside of the table."""
    commands = getattr(group, "commands", {})
    own = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    options = _options(group)
    known = set(options) | {name for command in commands.values() for name in _all_options(command)}
    for key, value in own.items():
        where = f"[{at}] {key}" if at else key
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else "see --help for the options that there are"
            wrong.append(f"{where} is no option{f' of {at}' if at else ' of any command'}: {hint}")
        elif not _plain(value):
            wrong.append(f"{where} = {value!r}: expected a text, a number, true or false, or a list of these")
    for name in sorted(set(table) - set(own) - set(commands)):
        where = f"{at}.{name}" if at else name
        wrong.append(f"[{where}] is no command: expected {', '.join(sorted(commands)) or 'options only'}")
    given = {**above, **own}
    out: dict[str, Any] = {options[key]: value for key, value in given.items() if key in options}
    for name, command in commands.items():
        inside = table.get(name, {})
        if isinstance(inside, Mapping):
            out[name] = _of_group(command, inside, given, f"{at}.{name}" if at else name, wrong)
    return out


def _options(command: Any) -> dict[str, str]:
    """The parameter behind each long option of a command: {"pto-isa": "pto_isa", "set": "set_"}."""
    return {
        option.removeprefix("--"): str(parameter.name)
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and not parameter.is_eager
    }


def _all_options(command: Any) -> Iterator[str]:
    yield from _options(command)
    for inner in getattr(command, "commands", {}).values():
        yield from _all_options(inner)


def _plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, list) and all(isinstance(v, _PLAIN) for v in value))
