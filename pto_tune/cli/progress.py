"""A progress bar for what takes longer than a second; on stderr, and only where that is a terminal."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Display

DELAY_S = 1.0
"""What is done sooner shows no bar."""


class Step(Protocol):
    """What a search tells about itself."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int | None: ...
    @property
    def legal(self) -> int: ...
    @property
    def best_us(self) -> float | None: ...


class Bar:
    """A context manager to be called with each step; without a call it shows that something is going on."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        self._what = what
        self._lock = threading.Lock()
        self._display: Display | None = None
        self._task: Any = None
        self._state: dict[str, Any] = {}
        self._closed = False
        self._timer: threading.Timer | None = None
        if not quiet and sys.stderr.isatty():
            self._timer = threading.Timer(DELAY_S, self._show)
            self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._display is not None:
                self._display.stop()

    def __call__(self, step: Step) -> None:
        best = "" if not step.best_us else f"best {step.best_us:,.2f} us"
        with self._lock:
            self._state = {
                "total": step.total or None,
                "completed": step.done,
                "note": f"{step.done:,} done, {step.legal:,} legal  {best}",
            }
            if self._display is not None:
                self._display.update(self._task, **self._state)

    def _show(self) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            self._display = Progress(
                TextColumn(escape(self._what)),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[note]}"),
                TimeElapsedColumn(),
                console=Console(file=sys.stderr),
                transient=True,
            )
            state = {"total": None, "completed": 0, "note": "", **self._state}
            self._task = self._display.add_task(self._what, **state)
            self._display.start()
