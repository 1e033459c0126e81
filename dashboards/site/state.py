"""What all requests of one server share: the store, its runs in memory, the sweeps, the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboards.site.sweeps import Sweeps
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

    def __post_init__(self) -> None:
        self.views = Views(self.store)
        self.sweeps = Sweeps(self.store, self.allow_runs)

    def close(self) -> None:
        """Stop the sweeps. The store stays open: it is the caller's."""
        self.sweeps.close()
