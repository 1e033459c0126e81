"""Rows that reach SQLite as a database laid out in memory: the same rows as one by one."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import db
from db import RunSpec, Store, StoreError, staging
from db.bulk import Batch, insert_batch
from db.columns import BY_NAME, COLUMNS

MakeSpec = Callable[..., RunSpec]
TOPS = (0, 127, 128, 2**15 - 1, 2**15, 2**31 - 1, 2**31, 2**63 - 1)


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Store]:
    with db.open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        yield opened


def made(n: int, seed: int, tops: dict[str, int], sparse: set[str]) -> Batch:
    """A batch of random values from 0 to ``tops`` by column; ``sparse`` columns lack some, and hold rubbish there."""
    rng = np.random.default_rng(seed)
    arrays, masks = [], []
    for name, top in tops.items():
        values = rng.integers(0, top, n, dtype=np.int64, endpoint=True)
        mask = rng.random(n) < 0.5 if name in sparse else None
        if n and mask is None:
            values[rng.integers(n)] = top
        arrays.append(values if mask is None else np.where(mask, values, -(2**62)))
        masks.append(mask)
    return Batch(1, 5, n, tuple(BY_NAME[name] for name in tops), tuple(arrays), tuple(masks))


def read(image: bytes | bytearray, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute(f"SELECT rowid, {', '.join(names)} FROM staged").fetchall()


def rows_of(batch: Batch) -> list[tuple[Any, ...]]:
    columns = [
        [v if m else None for v, m in zip(a.tolist(), [True] * batch.n if k is None else k.tolist(), strict=True)]
        for a, k in zip(batch.arrays, batch.valid, strict=True)
    ]
    return list(zip(*columns, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    n=st.sampled_from([1, 2, 3, 700, 3_000, 12_345]),
    seed=st.integers(0, 2**32),
    names=st.sets(st.sampled_from([c.name for c in COLUMNS if c.name != "row"])),
    data=st.data(),
)
def test_an_image_is_a_whole_database_with_these_rows(n: int, seed: int, names: set[str], data: st.DataObject) -> None:
    tops = {
        name: data.draw(st.sampled_from([top for top in TOPS if top <= BY_NAME[name].largest]), label=name)
        for name in sorted(names | {"verdict"})
    }
    sparse = {name for name in tops if BY_NAME[name].nullable and data.draw(st.booleans(), label=f"{name} sparse")}
    batch = made(n, seed, tops, sparse)
    image, columns = staging.image_of(batch)
    got = read(image, columns)
    assert columns == tuple(tops)
    assert [row[1:] for row in got] == rows_of(batch)
    assert [row[0] - got[0][0] for row in got] == list(range(n))


@pytest.mark.parametrize("around", [-1, 0, 1])
@pytest.mark.parametrize("pages", [1, 2, 3])
def test_leaves_that_are_just_full(pages: int, around: int) -> None:
    # verdict alone: length, three bytes of rowid, header length, type, value; and a pointer of two bytes
    each = (65_536 - 8) // (7 + 2)
    batch = made(each * pages + around, 1, {"verdict": 100}, set())
    image, columns = staging.image_of(batch)
    assert [row[1:] for row in read(image, columns)] == rows_of(batch)
    leaves = pages + (around > 0)
    assert len(image) // 65_536 == (2 if leaves == 1 else 2 + leaves)


def test_the_largest_image_with_the_longest_rows_is_whole() -> None:
    names = [c.name for c in COLUMNS if c.name != "row"]
    every = {name: BY_NAME[name].largest for name in names}
    batch = made(staging.MOST_ROWS, 2, {"verdict": 3, "cycles": every["cycles"]}, {"cycles"})
    image, columns = staging.image_of(batch)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        (counted,) = connection.execute(f"SELECT COUNT(*), SUM({columns[0]}), COUNT({columns[1]}) FROM staged")
    assert batch.valid[1] is not None
    assert counted == (staging.MOST_ROWS, int(batch.arrays[0].sum()), int(batch.valid[1].sum()))
    # With all columns at full width, the root still has a pointer for every leaf.
    length = len(staging.image_of(made(1, 2, every, set(names) - {"verdict"}))[1]) * 2 + 1
    width = sum(BY_NAME[name].bits // 8 for name in names)
    each = (65_536 - 8) // (2 + 3 + length + width + 2)
    assert -(-staging.MOST_ROWS // each) * (7 + 2) + 12 < 65_536


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(n=st.integers(1_000, 4_000), seed=st.integers(0, 2**32))
def test_many_rows_are_read_back_as_few_would_be(sqlite: Store, spec: MakeSpec, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {"t0": rng.integers(0, 3, n), "verdict": rng.integers(0, 3, n), "cycles": rng.integers(0, 2**40, n)}
    valid = {"cycles": rng.random(n) < 0.3}
    by_staging, one_by_one = sqlite.create_run(spec()), sqlite.create_run(spec())
    sqlite.add_configurations(by_staging.id, columns, 7, valid)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(staging, "LEAST_ROWS", n + 1)
        sqlite.add_configurations(one_by_one.id, columns, 7, valid)
    ours, theirs = sqlite.configurations(by_staging.id), sqlite.configurations(one_by_one.id)
    for name in ours:
        assert ours[name].tolist() == theirs[name].tolist(), name


def test_a_driver_without_images_takes_rows_one_by_one() -> None:
    class Old:
        """What a driver for an SQLite without serialisation offers."""

    assert not staging.can_stage(Old(), 10_000)


def test_nothing_stays_attached(sqlite: Store, spec: MakeSpec) -> None:
    run = sqlite.create_run(spec())
    for call in range(12):
        sqlite.add_configurations(run.id, {"verdict": np.zeros(2_000, dtype=np.int64)}, call * 2_000)
    with pytest.raises(StoreError, match="already has some of the rows"):
        sqlite.add_configurations(run.id, {"verdict": np.zeros(2_000, dtype=np.int64)}, 5)
    with sqlite._database.raw() as driver:
        attached = {name for _, name, _ in driver.execute("PRAGMA database_list")}
    assert attached <= {"main", "temp"}
    assert sqlite.max_row(run.id) == 23_999


def test_several_batches_in_one_transaction(sqlite: Store, spec: MakeSpec) -> None:
    run = sqlite.create_run(spec())
    column = BY_NAME["verdict"]
    with sqlite._database.write() as connection:
        for call in range(12):
            zeros = np.zeros(1_500, dtype=np.int64)
            insert_batch(connection, Batch(run.id, call * 1_500, 1_500, (column,), (zeros,), (None,)))
    assert np.array_equal(sqlite.configurations(run.id, ["row"])["row"], np.arange(18_000))
