"""The pipes of one configuration as an exporter needs them: read off the workload and the rule set.

Everything is evaluated for one configuration of block 0; calls that only other blocks make are seen too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

from pto_tune.exporters.recommendation import (
    Family,
    PipeCall,
    PipeDirection,
    PipeKind,
    PipeRecommendation,
    PipeWay,
    RingPlace,
    SplitAxis,
    Switch,
    WayName,
)
from pto_tune.legality import memory_parts
from pto_tune.legality.calls import Site, pipe_uses
from pto_tune.legality.rules import column
from pto_tune.legality.warnings import warnings
from pto_tune.lowering.columns import environment
from pto_tune.lowering.pipe_rules import derived_period_expr, is_no_split
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import SPLITS, TConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.evaluation import Evaluation
    from pto_tune.legality.calls import End
    from pto_tune.model.expr import Expr
    from pto_tune.model.nodes import Fifo, Workload
    from pto_tune.rule_sets import Direction, RuleSet

    Env = Mapping[str, Any]

CONSUMER_MEMORY = {"C2V": "UB", "V2C": "L1"}
"""Where the consumer of a way keeps tiles."""


def row_environment(workload: Workload, values: Mapping[str, int]) -> Env:
    """Columns of one row of all problem sizes and tunables, derived names included."""
    import numpy as np

    return environment(workload, {**{n: np.array([v], np.int64) for n, v in values.items()}, "block": np.array([0])})


def pipe_recommendations(workload: Workload, rule_set: RuleSet, env: Env) -> tuple[PipeRecommendation, ...]:
    """Every pipe that the configuration has, in the workload's order. `env` is one row of `row_environment`."""
    calls = {use.fifo.name: use.sites for use in pipe_uses(workload, rule_set, env, 1)}
    local = {m: dict(memory_parts(workload, m, env, 1, rule_set)) for m in CONSUMER_MEMORY.values()}
    found = []
    for f in workload.fifos:
        direction = rule_set.direction_of(f.direction, f.gm_form)
        if _number(f.used, env) and direction is not None and not direction.refused:
            sites = tuple(s for s in calls.get(f.name, ()) if s.active.any())
            found.append(_pipe(f, direction, sites, local, rule_set, env))
    return tuple(found)


def configuration_warnings(workload: Workload, platform: Platform, rule_set: RuleSet, env: Env) -> tuple[str, ...]:
    """Sentences of the warnings that apply to the configuration."""
    return tuple(w.sentence(0) for w in warnings(workload, platform, rule_set, env, 1) if w.broken[0])


def periods_of_their_own(workload: Workload, rule_set: RuleSet, env: Env) -> Iterator[tuple[str, int, int, int]]:
    """Used TPipes whose SyncPeriod is not the derived one: name, SyncPeriod, FifoDepth, derived SyncPeriod."""
    for f in workload.fifos:
        given, derived = _number(f.sync_period, env), _number(derived_period_expr(f, rule_set), env)
        if f.kind == "TPipe" and _number(f.used, env) and given > 0 and given != derived:
            yield f.name, given, _number(f.slot_num, env), derived


def buildable(workload: Workload, rule_set: RuleSet, table: Mapping[str, Any], n: int) -> NDArray[np.bool_]:
    """Which of the n rows of a table have pipes that can carry their SyncPeriod, as `periods_of_their_own` says of one.

    table: columns of every problem size and tunable.
    """
    import numpy as np

    env = environment(workload, {**table, "block": np.zeros(1, np.int64)})
    out = np.ones(n, dtype=np.bool_)
    for f in workload.fifos:
        if f.kind == "TPipe":
            given, derived = evaluate(f.sync_period, env), evaluate(derived_period_expr(f, rule_set), env)
            used = column(evaluate(f.used, env), n).astype(np.bool_)
            out &= ~(used & (column(given, n) > 0) & (column(given, n) != column(derived, n)))
    return out


def assumed_numbers(e: Evaluation) -> tuple[str, ...]:
    """Keys of the assumed numbers of links and signals that the first configuration of an evaluation uses."""
    if not e.runs:
        return ()
    from pto_tune.ranks.leaning import assumed

    return tuple(assumed(e.problem.code, e.problem.platform, e.runs[int(e.run_row[0])].kinds))


def family_of(rule_set: RuleSet) -> Family:
    """The family of a rule set as an export has it."""
    return cast(Family, rule_set.family)


def _number(e: Expr, env: Env) -> int:
    return int(column(evaluate(e, env), 1)[0])


def _pipe(
    f: Fifo,
    direction: Direction,
    sites: tuple[Site, ...],
    local: Mapping[str, Mapping[str, Any]],
    rule_set: RuleSet,
    env: Env,
) -> PipeRecommendation:
    slot_num, period = _number(f.slot_num, env), _number(f.sync_period, env)
    switches: tuple[Switch, ...] = get_args(Switch)
    configs = tuple(dict.fromkeys(s.config for s in sites if s.config is not None))
    return PipeRecommendation(
        name=f.name,
        flag_id=f.flag_id,
        direction=cast(PipeDirection, f"DIR_{direction.name}"),
        slot_bytes=_number(f.slot_bytes, env),
        slot_num=slot_num,
        sync_period=period if period > 0 else rule_set.derived_period(slot_num),
        local_slot_num=_number(f.local_slot_num, env),
        is_no_split=bool(_number(is_no_split(f), env)),
        en_unit_flag=f.unit_flag,
        split=_axis(_number(f.split, env)),
        ways=tuple(
            PipeWay(
                name=cast(WayName, name),
                ring=cast(RingPlace, way.ring),
                consumer_bytes=_consumer_bytes(local[CONSUMER_MEMORY[name]], f.track(name)),
                calls=_calls([s for s in sites if s.way == name], f, configs),
            )
            for name, way in direction.ways.items()
        ),
        kind=cast(PipeKind, f.kind),
        gated=f.kind == "TMPipe" and bool(_number(f.gated, env)),
        switches_off=tuple(s for s in switches if not _number(getattr(f, s), env)),
        configs=configs,
        part_slots=f.part_slots and any(way.ring == "UB" for way in direction.ways.values()),
    )


def _axis(split: int) -> SplitAxis:
    return cast(SplitAxis, f"TILE_{SPLITS[split]}")


def _consumer_bytes(parts: Mapping[str, Any], track: str) -> int:
    """What a way takes of the consumer's memory, by the names that `legality.memory_parts` gives."""
    return sum(int(parts[name][0]) for name in (f"{track} ring", f"{track} local slots") if name in parts)


def _calls(sites: Iterable[Site], f: Fifo, configs: tuple[TConfig, ...]) -> tuple[PipeCall, ...]:
    """The calls of a way, each kind once, those of the producer's core first."""
    ordered = sorted(sites, key=lambda s: not s.producer)
    return tuple(dict.fromkeys(_call(s, f, configs) for s in ordered))


def _call(site: Site, f: Fifo, configs: tuple[TConfig, ...]) -> PipeCall:
    active = [end for end in site.ends if end.active.any()]
    config = None if site.config is None else configs.index(site.config)
    return PipeCall(
        core=active[0].core if len(active) < len(site.ends) else site.core,
        instruction=site.word,
        flow="TileData" if site.tile_data else "GlobalData",
        # a TMPipe takes the split from the shapes of its tiles
        splits=() if f.kind == "TMPipe" else tuple(dict.fromkeys(_axis(s) for e in active for s in _splits(e))),
        config=config,
        simplified=site.simplified,
    )


def _splits(end: End) -> list[int]:
    import numpy as np

    split, active = np.broadcast_arrays(end.split, end.active)
    return sorted({int(v) for v in split[active]})
