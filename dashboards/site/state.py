"""What all requests of one server share: the store, its runs in memory, the sweeps, the settings."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING

from dashboards.site.sweeps import Sweeps
from dashboards.site.turns import Turns
from dashboards.site.views import Views

if TYPE_CHECKING:
    from db import Store


@dataclass
class Site:
    """One server over one open store. `allow_runs`: whether pages and API may start and stop sweeps and take
    measurements in."""

    store: Store
    allow_runs: bool = False
    views: Views = field(init=False)
    sweeps: Sweeps = field(init=False)
    turns: Turns = field(default_factory=Turns, init=False)

    def __post_init__(self) -> None:
        self.views = Views(self.store)
        self.sweeps = Sweeps(self.store, self.allow_runs)

    def warm(self, read_after_s: float = 2.0, load_after_s: float = 12.0) -> None:
        """Behind the first page, read the latest run, which is the one that is most likely asked for first; behind the
        second, load what evaluates configurations."""

        def read() -> None:
            with suppress(ValueError):
                self.views.view("latest")
                self.views.search("latest")

        def load() -> None:
            from pto_tune.executor.warm import warm

            warm()

        for after_s, what in ((read_after_s, read), (load_after_s, load)):
            timer = Timer(after_s, what)
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        """Stop the sweeps. The store stays open: it is the caller's."""
        self.sweeps.close()
