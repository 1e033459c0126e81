"""The one exception of the store, and driver errors told as one sentence."""

_LONGEST = 300

# What SQLite says, and what a person can do about it.
_SQLITE_SENTENCES = (
    ("file is not a database", "{shown} is not an SQLite database: name another file, or move this one away"),
    (
        "database is locked",
        "{shown} was locked by another process for 30 seconds: try again when that one is done",
    ),
    ("disk is full", "{shown} cannot grow, its disk is full: free some space and try again"),
    (
        "disk I/O error",
        "{shown} cannot be read or written any further: see whether its disk is full, a quota used up or the disk "
        "gone, then try again",
    ),
    (
        "readonly database",
        "{shown} is read-only: make the file and its folder writable, or choose another database",
    ),
    (
        "unable to open database file",
        "{shown} cannot be opened: its folder must exist, and file and folder must be readable and writable",
    ),
    ("malformed", "{shown} is damaged: put back a copy of it, or choose another database"),
)


class StoreError(ValueError):
    """Something that the store refuses or cannot do, in one sentence: what, where, what would be right."""


class TakenOverError(StoreError):
    """A run has another writer by now; nothing of what this one still brings is kept."""


def shorten(text: str, longest: int = _LONGEST) -> str:
    """``text`` on one line, cut to ``longest`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def is_integrity_error(error: BaseException | None) -> bool:
    """Whether a driver's error means that a key is taken or missing, whichever driver it comes from."""
    return any(kind.__name__ == "IntegrityError" for kind in type(error).__mro__)


def explain_driver_error(error: Exception, shown: str, secret: str | None = None) -> str:
    """One sentence for an error of SQLAlchemy, sqlite3 or psycopg.

    Args:
        error: what was raised.
        shown: the database as it may be shown, without a password.
        secret: the password, which is struck out should the driver repeat it.
    """
    cause = getattr(error, "orig", None) or error
    text = str(cause)
    if type(cause).__module__.startswith("sqlite3"):
        for part, sentence in _SQLITE_SENTENCES:
            if part in text:
                return sentence.format(shown=shown)
    if secret:
        text = text.replace(secret, "***")
    return f"{shown} answered with an error: {shorten(text)}"
