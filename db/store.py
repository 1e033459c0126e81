"""The store: runs, their configurations and accounts, and measurements, over one open database."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from sqlalchemy import delete, func, insert, select, update

from db.accounts import Account, account_values, load_accounts, upsert_accounts
from db.columns import CONFIGURATION_COLUMNS, known_columns
from db.engine import Database
from db.errors import StoreError, shorten
from db.measured import Measurement, StoredMeasurement, measurement_values
from db.measurements import conditions, count_measurements, insert_new, load_measurements
from db.models import RUN_STATES, AccountRow, ConfigurationRow, DatabaseNow, RunRow
from db.names import check_name
from db.records import DEAD_AFTER_S, Run, RunSpec, plain_text, spec_values, to_json
from db.runs import change_running, find_id, free_name, load_run, load_runs, must_be_running, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LARGEST_ROW = 2**31 - 1
_LARGEST_COUNT = 2**63 - 1
_FINAL_STATES = tuple(state for state in RUN_STATES if state != "running")


class Store:
    """Runs and what they found. Made by :func:`db.open_store`; threads may share it.

    Every method is one transaction; every error is a :class:`StoreError` in one sentence. ``ref`` is a run's
    number, its name, or ``latest``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def url(self) -> str:
        """The database's URL, without its password."""
        return self._database.shown

    @property
    def read_only(self) -> bool:
        """Whether the store may only be read."""
        return self._database.read_only

    def close(self) -> None:
        """Close the connections; the store cannot be used any more."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Runs

    def create_run(self, spec: RunSpec) -> Run:
        """A new run in state ``running``; its name is the spec's or ``workload-platform-number``."""
        name = None if spec.name is None else check_name(spec.name)
        values = spec_values(spec)
        with self._database.write(conflict=_taken(name or "")) as connection:
            self._database.one_at_a_time(connection)
            created = connection.execute(
                insert(RunRow).values(
                    **values,
                    # No name can look like this one, and nobody sees it outside this transaction.
                    name=name or f"\x01{uuid.uuid4()}",
                    state="running",
                    message="",
                    created_at=DatabaseNow(),
                    heartbeat_at=DatabaseNow(),
                )
            )
            key = created.inserted_primary_key
            assert key is not None
            run_id = int(key[0])
            if name is None:
                name = free_name(connection, spec, run_id)
                connection.execute(update(RunRow).where(RunRow.id == run_id).values(name=name))
            return load_run(connection, run_id, self.url)

    def runs(self, workload: str | None = None, platform: str | None = None) -> list[Run]:
        """All runs, or those of a workload and a platform by their names, newest first."""
        chosen = [
            column == plain_text(name)
            for column, name in ((RunRow.workload, workload), (RunRow.platform, platform))
            if name is not None
        ]
        with self._database.read() as connection:
            return load_runs(connection, *chosen)

    def find_run(self, ref: str | int) -> Run:
        """The run that ``ref`` names; an unknown one raises with the nearest names."""
        with self._database.read() as connection:
            return load_run(connection, find_id(connection, ref, self.url), self.url)

    def find_spec(self, spec_sha256: str) -> list[Run]:
        """The runs of this specification, newest first."""
        with self._database.read() as connection:
            return load_runs(connection, RunRow.spec_sha256 == plain_text(spec_sha256))

    def rename_run(self, ref: str | int, name: str) -> Run:
        """Give a run another name."""
        name = check_name(name)
        with self._database.write(conflict=_taken(name)) as connection:
            self._database.one_at_a_time(connection)
            run_id = find_id(connection, ref, self.url)
            connection.execute(update(RunRow).where(RunRow.id == run_id).values(name=name))
            return load_run(connection, run_id, self.url)

    def delete_run(self, ref: str | int) -> None:
        """Delete a run with its configurations and accounts."""
        with self._database.write() as connection:
            run_id = find_id(connection, ref, self.url)
            # Whoever is adding to it has ended by then, and the next one finds no run.
            connection.execute(select(RunRow.id).where(RunRow.id == run_id).with_for_update())
            for table in (AccountRow, ConfigurationRow):
                connection.execute(delete(table).where(table.run_id == run_id))
            connection.execute(delete(RunRow).where(RunRow.id == run_id))

    def progress(self, run_id: int, n_evaluated: SupportsIndex, epoch: int | None = None) -> None:
        """Note how far a run is; also its sign of life. Refused for a run that is not running.

        Args:
            epoch: the run's epoch when this writer took it up; refused where another has taken it up since then.
        """
        count = whole_number(n_evaluated, "n_evaluated", _LARGEST_COUNT)
        with self._database.write() as connection:
            change_running(connection, run_id, self.url, epoch, {"n_evaluated": count})

    def sign_of_life(self, run_id: int, epoch: int | None = None) -> None:
        """Say that the program that writes this run is there. Refused as :meth:`progress` is."""
        with self._database.write() as connection:
            change_running(connection, run_id, self.url, epoch, {})

    def finish_run(
        self,
        run_id: int,
        state: str,
        message: str = "",
        counts: Mapping[str, Any] | None = None,
        best_row: SupportsIndex | None = None,
        best_cycles: SupportsIndex | None = None,
        epoch: int | None = None,
    ) -> Run:
        """End a running run as ``done``, ``stopped`` or ``failed``.

        Args:
            counts: configurations by verdict and rule, as JSON can hold it.
            best_row, best_cycles: the best configuration and its time in cycles, if there is one.
            epoch: as in :meth:`progress`.
        """
        if state not in _FINAL_STATES:
            raise StoreError(f"a run cannot end as {shorten(repr(state), 60)}: use {', '.join(_FINAL_STATES)}")
        values = {
            "state": state,
            "message": plain_text(message),
            "counts_json": to_json(dict(counts or {}), "the counts"),
            "best_row": None if best_row is None else whole_number(best_row, "best_row", _LARGEST_ROW),
            "best_cycles": (None if best_cycles is None else whole_number(best_cycles, "best_cycles", _LARGEST_COUNT)),
        }
        with self._database.write() as connection:
            change_running(connection, run_id, self.url, epoch, {**values, "finished_at": DatabaseNow()})
            return load_run(connection, run_id, self.url)

    def resume_run(self, ref: str | int, dead_after_s: float = DEAD_AFTER_S) -> Run:
        """Set a stopped or failed run, or one whose writer is dead, to ``running`` again, in the next epoch.

        A writer of an earlier epoch that turns out to be alive is refused from now on, so that no two write one run.

        Args:
            dead_after_s: a running run is taken over once its last sign of life is this many seconds old, by the
                database's clock.
        """
        with self._database.write() as connection:
            self._database.one_at_a_time(connection)
            run_id = find_id(connection, ref, self.url)
            # What its writer is at now ends first, and counts as a sign of life.
            connection.execute(select(RunRow.id).where(RunRow.id == run_id).with_for_update())
            run = load_run(connection, run_id, self.url)
            if run.state == "done":
                raise StoreError(f"run {run.id} in {self.url} is done: there is nothing to resume")
            if run.state == "running" and run.heartbeat_age_s < dead_after_s:
                raise StoreError(
                    f"run {run.id} in {self.url} gave a sign of life {run.heartbeat_age_s:.0f} s ago: "
                    f"wait for it; if its program is gone, try again after {dead_after_s:.0f} s, or take it over now"
                )
            connection.execute(
                update(RunRow)
                .where(RunRow.id == run.id)
                .values(state="running", message="", finished_at=None, heartbeat_at=DatabaseNow(), epoch=run.epoch + 1)
            )
            return load_run(connection, run.id, self.url)

    # Configurations

    def add_configurations(
        self,
        run_id: int,
        columns: Mapping[str, "NDArray[Any]"],
        first_row: int,
        valid: Mapping[str, "NDArray[np.bool_]"] | None = None,
        *,
        epoch: int | None = None,
        n_evaluated: SupportsIndex | None = None,
    ) -> None:
        """Add configurations to a running run as rows ``first_row``, ``first_row + 1``, ...: all or none.

        Args:
            columns: integer arrays of shape (n,) by column name, ``verdict`` among them. A column that is
                missing is NULL in every row. ``t0`` and so on are indices into the run's domains; cycles in
                cycles, memories in bytes.
            valid: boolean arrays of shape (n,) by column name: where false, the value is NULL.
            epoch: as in :meth:`progress`.
            n_evaluated: how far the run is with these; noted in the same transaction, with a sign of life.
        """
        from db.bulk import check_batch, insert_batch

        first_row = whole_number(first_row, "first_row", _LARGEST_ROW)
        count = None if n_evaluated is None else whole_number(n_evaluated, "n_evaluated", _LARGEST_COUNT)
        with self._database.read() as connection:
            run = load_run(connection, run_id, self.url)
        batch = check_batch(run, columns, first_row, valid or {})
        taken = (
            f"run {run_id} in {self.url} already has some of the rows {first_row} to "
            f"{first_row + batch.n - 1}: go on after its last row"
        )
        with self._database.write(conflict=taken) as connection:
            if count is None:
                must_be_running(connection, run_id, self.url, epoch)
            else:
                change_running(connection, run_id, self.url, epoch, {"n_evaluated": count})
            insert_batch(connection, batch)

    def configurations(
        self,
        run_id: int,
        columns: Sequence[str] | None = None,
        where_verdict: int | None = None,
        order_by_cycles: bool = False,
        limit: int | None = None,
    ) -> "dict[str, NDArray[Any]]":
        """A run's configurations as columns.

        Args:
            columns: names of :data:`db.columns.CONFIGURATION_COLUMNS`; None means all of them.
            where_verdict: only configurations with this verdict.
            order_by_cycles: fastest first, those without a time last; otherwise in the order of rows.
            limit: at most so many.

        Returns:
            int64 arrays of shape (rows,); ``np.ma.MaskedArray`` for columns that may be NULL, which are all
            but ``row`` and ``verdict``.
        """
        from db.reading import read_configurations

        wanted = known_columns(CONFIGURATION_COLUMNS if columns is None else columns)
        if limit is not None:
            limit = whole_number(limit, "limit", _LARGEST_COUNT)
        if where_verdict is not None:
            where_verdict = whole_number(where_verdict, "where_verdict", 2**15 - 1)
        with self._database.read() as connection:
            load_run(connection, run_id, self.url)
            return read_configurations(connection, run_id, wanted, where_verdict, order_by_cycles, limit)

    def max_row(self, run_id: int) -> int | None:
        """The last row of a run, None where it has none yet."""
        with self._database.read() as connection:
            load_run(connection, run_id, self.url)
            query = select(func.max(ConfigurationRow.row)).where(ConfigurationRow.run_id == run_id)
            found: int | None = connection.execute(query).scalar_one()
            return found

    # Accounts

    def add_accounts(self, run_id: int, rows: Iterable[Account], epoch: int | None = None) -> None:
        """Add stall accounts ``(row, kind, name, cycles)``, kind ``busy`` or ``wait``: all or none.

        An account that is there already gets the new cycles. The configuration must have been added before. With
        ``epoch``, the run must be running, as in :meth:`progress`.
        """
        values = account_values(run_id, rows)
        missing = f"an account of run {run_id} in {self.url} is of a row that it has not: add configurations first"
        with self._database.write(conflict=missing) as connection:
            load_run(connection, run_id, self.url)
            if epoch is not None:
                must_be_running(connection, run_id, self.url, epoch)
            if values:
                upsert_accounts(connection, values)

    def accounts(self, run_id: int, row: int | None = None) -> list[Account]:
        """A run's accounts ``(row, kind, name, cycles)`` in that order; of one configuration with ``row``."""
        with self._database.read() as connection:
            load_run(connection, run_id, self.url)
            return load_accounts(connection, run_id, row)

    # Measurements

    def add_measurements(self, measurements: Iterable[Measurement]) -> tuple[int, int]:
        """Keep measurements, all or none; one that is there already, or twice among these, is kept once.

        Two are the same where their ``digest`` is. The one that was first keeps its source and note.

        Returns:
            How many were added, and how many were there already.
        """
        given = list(measurements)
        values = [
            measurement_values(measurement, f"measurement {number} of {len(given)}")
            for number, measurement in enumerate(given, 1)
        ]
        with self._database.write() as connection:
            self._database.one_at_a_time(connection)
            added = insert_new(connection, values)
        return added, len(given) - added

    def measurements(self, limit: SupportsIndex | None = None, **filters: str | None) -> list[StoredMeasurement]:
        """Measurements in the order in which they came in.

        Args:
            limit: at most so many.
            filters: texts by name, one of :data:`db.measurements.FILTERS`: ``workload``, ``family``, ``platform``,
                ``soc``, ``timing``, ``metric``, ``pto_isa``. None does not choose.
        """
        wanted = conditions(filters)
        at_most = None if limit is None else whole_number(limit, "limit", _LARGEST_COUNT)
        with self._database.read() as connection:
            return load_measurements(connection, wanted, at_most)

    def count_measurements(self, **filters: str | None) -> int:
        """How many measurements there are, with the filters of :meth:`measurements`."""
        wanted = conditions(filters)
        with self._database.read() as connection:
            return count_measurements(connection, wanted)


def _taken(name: str) -> str:
    return f"a run named {shorten(repr(name), 220)} is there already: choose another name"
