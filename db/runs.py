"""Statements about runs inside a caller's transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update

from db.errors import StoreError, TakenOverError, shorten
from db.models import DatabaseNow, RunRow
from db.names import LATEST, default_name, has_control_characters, nearest_names, normal_name
from db.records import Run, RunSpec, run_from_row

LARGEST_ID = 2**31 - 1


def whole_number(value: Any, what: str, largest: int) -> int:
    """``value`` as an int from 0 to ``largest``, NumPy's integers included."""
    try:
        number = value.__index__()
    except AttributeError:
        raise StoreError(f"{what} is {shorten(repr(value), 60)}: it must be an integer") from None
    if not 0 <= number <= largest:
        raise StoreError(f"{what} is {number}: it must be 0 to {largest}")
    return int(number)


def load_runs(connection: Connection, *conditions: ColumnElement[bool]) -> list[Run]:
    """The runs that meet all conditions, newest first."""
    query = select(RunRow.__table__, DatabaseNow().label("now")).where(*conditions).order_by(RunRow.id.desc())
    found = []
    for row in connection.execute(query).mappings():
        values = dict(row)
        now: datetime = values.pop("now")
        found.append(run_from_row(values, now))
    return found


def load_run(connection: Connection, run_id: int, where: str) -> Run:
    """The run of this number in the database shown as ``where``."""
    found = load_runs(connection, RunRow.id == whole_number(run_id, "a run's number", LARGEST_ID))
    if not found:
        raise _unknown(connection, run_id, where)
    return found[0]


def find_id(connection: Connection, ref: str | int, where: str) -> int:
    """The number of the run that ``ref`` names: a number, a name or ``latest``."""
    query = select(RunRow.id)
    if isinstance(ref, str) and ref == LATEST:
        query = query.order_by(RunRow.id.desc()).limit(1)
    elif isinstance(ref, str) and not (ref.isascii() and ref.isdigit()):
        if has_control_characters(ref):
            # No run has such a name; some databases refuse the question itself.
            raise _unknown(connection, ref, where)
        query = query.where(RunRow.name == normal_name(ref))
    else:
        number = int(ref) if not isinstance(ref, str) or len(ref) <= 10 else -1
        query = query.where(RunRow.id == (number if 0 <= number <= LARGEST_ID else -1))
    found = connection.execute(query).scalar_one_or_none()
    if found is None:
        raise _unknown(connection, ref, where)
    return found


def must_be_running(connection: Connection, run_id: int, where: str, epoch: int | None = None) -> None:
    """Refuse a run that is not running, and keep it running until the transaction ends.

    Args:
        epoch: that of the writer who asks; a run that another one has taken up since then is refused.

    Raises:
        TakenOverError: it has another writer by now.
    """
    query = select(RunRow.state, RunRow.epoch).where(RunRow.id == whole_number(run_id, "a run's number", LARGEST_ID))
    found = connection.execute(query.with_for_update(read=True)).one_or_none()
    if found is None:
        raise _unknown(connection, run_id, where)
    if epoch is not None and found.epoch != epoch:
        raise TakenOverError(
            f"run {run_id} in {where} was taken up by another program while this one gave no sign of life: what was "
            "kept before is in it, and that program goes on"
        )
    if found.state != "running":
        raise StoreError(f"run {run_id} in {where} is {found.state}: only a running run takes results")


def change_running(
    connection: Connection, run_id: int, where: str, epoch: int | None, values: Mapping[str, Any]
) -> None:
    """Change a running run and give a sign of life; refused as by :func:`must_be_running`."""
    query = update(RunRow).where(RunRow.id == run_id, RunRow.state == "running")
    if epoch is not None:
        query = query.where(RunRow.epoch == epoch)
    if connection.execute(query.values(heartbeat_at=DatabaseNow(), **values)).rowcount == 0:
        must_be_running(connection, run_id, where, epoch)
        raise StoreError(f"run {run_id} in {where} is changed by somebody else at this moment: try again")


def free_name(connection: Connection, spec: RunSpec, run_id: int) -> str:
    """A default name that no run has."""
    attempt = 1
    while True:
        name = default_name(spec.workload, spec.platform, run_id, attempt)
        if connection.execute(select(RunRow.id).where(RunRow.name == name)).first() is None:
            return name
        attempt += 1


def _unknown(connection: Connection, ref: str | int, where: str) -> StoreError:
    known = list(connection.execute(select(RunRow.id, RunRow.name).order_by(RunRow.id.desc())))
    if not known:
        return StoreError(f"there are no runs yet in {where}: run 'pto-tune tune ...' first")
    quoted = shorten(repr(ref), 80)
    if isinstance(ref, str) and not ref.isdigit():
        near = nearest_names(normal_name(ref), [name for _, name in known])
        listed = ", ".join(shorten(repr(name), 80) for name in near)
        return StoreError(f"no run is named {quoted} in {where}: the nearest names are {listed}")
    listed = ", ".join(f"{number} ({shorten(repr(name), 80)})" for number, name in known[:3])
    return StoreError(f"no run has the number {quoted} in {where}: the newest are {listed}")
