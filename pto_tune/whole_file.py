"""Files that appear whole or not at all: written beside their place under another name, then renamed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def draft_beside(target: Path, content: bytes) -> Path:
    """A new hidden file in the folder of `target` with this content, on the disk; for who renames or removes it.
    OSError where it cannot be written, and nothing is left then."""
    draft = target.with_name(f".{target.name[:60]}.{secrets.token_hex(8)}.tmp")
    try:
        # Mode x: never through a file or link that somebody else put there.
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft


def write_whole(target: Path, content: bytes) -> None:
    """Write `content` to `target`, in place of what is there. OSError where that cannot be, and nothing has changed."""
    draft = draft_beside(target, content)
    try:
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
