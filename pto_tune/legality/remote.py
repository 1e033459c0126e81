"""Rules of workloads with ranks: the ranks and their links, blocks that have to run together, and remote calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.memory import memory_limit, staging_bytes
from pto_tune.legality.places import MOST_RANKS, gated, places_needed
from pto_tune.legality.remote_calls import cases, names_that_matter, rule_names
from pto_tune.legality.rules import Case, RuleColumn, column, rule
from pto_tune.model.communication import Transfer
from pto_tune.model.expr import evaluate

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.legality.rules import Ints
    from pto_tune.model.nodes import Workload

_MOST_CELLS = 2**20
"""Cells of a grid that are looked at together: places times configurations."""


def remote_rules(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> list[RuleColumn]:
    """All rules of a workload with ranks over n rows of `env` (derived names included).

    Which rules there are depends on the workload alone. Links are asked for between every two ranks, whether or not
    a call joins them.
    """
    return [
        *_launch_rules(workload, platform, env, n),
        *_place_rules(workload, platform, env, n),
        *_calls(workload, env, n),
    ]


def _launch_rules(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """How many ranks and blocks, and whether links join them."""
    import numpy as np

    ranks = column(evaluate(workload.ranks, env), n)
    blocks = column(evaluate(workload.launch.blocks, env), n)
    per_node = column(evaluate(workload.ranks_per_node, env), n)
    cores = int(platform["cores.cube"])
    no_ranks, no_blocks = (ranks < 1) | (ranks > MOST_RANKS), (blocks < 1) | (blocks > cores)
    yield RuleColumn("ranks", no_ranks, partial(_ranks_sentence, ranks))
    yield RuleColumn("blocks-resident", no_blocks, partial(_blocks_sentence, blocks, cores, platform.name))
    sdma = any(isinstance(x, Transfer) and x.asynchronous for _, body in workload.programs for x, _ in gated(body))
    pairs, place = np.unique(np.stack([np.where(no_ranks, 1, ranks), per_node]), axis=1, return_inverse=True)
    place = place.reshape(n)
    texts = [_links(platform, int(r), int(p), sdma) for r, p in pairs.T]
    for k, name in enumerate(("rank-links", "rank-sdma") if sdma else ("rank-links",)):
        of_pair = [text[k] for text in texts]
        broken = np.array([text is not None for text in of_pair], dtype=bool)[place]
        yield RuleColumn(name, broken, partial(_text_of, of_pair, place))


def _ranks_sentence(ranks: Ints, i: int) -> str:
    value = int(ranks[i])
    return f"{value} ranks are outside 1..{MOST_RANKS}; nearest legal: {min(max(value, 1), MOST_RANKS)}"


def _blocks_sentence(blocks: Ints, cores: int, platform: str, i: int) -> str:
    value = int(blocks[i])
    return (
        f"{value} blocks on {platform} with {cores} cube cores: blocks that wait for each other must all run at the "
        f"same time, so expected 1 to {cores}; nearest legal: {min(max(value, 1), cores)}"
    )


def _text_of(texts: list[str | None], place: Ints, i: int) -> str:
    text = texts[int(place[i])]
    assert text is not None
    return text


def _links(platform: Platform, ranks: int, per_node: int, sdma: bool) -> tuple[str | None, str | None]:
    """What is wrong with the links between so many ranks, and with SDMA on them."""
    from cost_models.link import engines, kind_between

    with_sdma = {kind for kind in _kinds(platform) if "sdma" in engines(platform, kind)}
    slow: str | None = None
    for a in range(ranks):
        for b in range(a + 1, ranks):
            try:
                kind = kind_between(platform, a, b, per_node or None)
            except ValueError as error:
                return str(error), slow
            if sdma and slow is None and kind not in with_sdma:
                slow = (
                    f"asynchronous transfers, and platform {platform.name!r} has no SDMA on the link {kind!r} between "
                    f"ranks {a} and {b}: expected ranks that {' or '.join(sorted(with_sdma)) or 'no link'} joins"
                )
    return None, slow


def _kinds(platform: Platform) -> list[str]:
    from cost_models.link import kinds

    return kinds(platform)


def _place_rules(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """Staging tiles with a place of their own lie within UB."""
    if not workload.staging:
        return
    limit, note = memory_limit(workload, platform, "UB")
    found = []
    for tile in (s for s in workload.staging if s.offset_bytes is not None):
        assert tile.offset_bytes is not None
        offset = column(evaluate(tile.offset_bytes, env), n)
        size = staging_bytes(tile, env, n)
        used = column(evaluate(tile.used, env), n) != 0
        outside = used & ((offset < 0) | (offset + size > limit))
        found.append(Case(outside.reshape(1, n), partial(_range_sentence, tile.name, offset, size, f"{limit}{note}")))
    yield rule("staging-range", n, found)


def _range_sentence(name: str, offset: Ints, size: Ints, has: str, _: int, i: int) -> str:
    begin, nbytes = int(offset[i]), int(size[i])
    return f"staging tile {name} takes bytes [{begin}, {begin + nbytes}) of UB, which has {has}: it must lie within"


def _calls(workload: Workload, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """Rules of remote calls: looked at for some rows at a time, and once more for a row that is asked about, so that
    grids of many places are never kept."""
    import numpy as np

    listed = rule_names(workload)
    if not listed:
        return
    names = names_that_matter(workload)
    broken = {name: np.zeros(n, dtype=bool) for name in listed}
    rows = max(_MOST_CELLS // places_needed(workload, env, n, names), 1)
    for first in range(0, n, rows):
        last = min(first + rows, n)
        for name, case in cases(workload, _part(env, n, first, last), last - first, names):
            broken[name][first:last] |= case.broken.any(axis=0)

    def sentence(name: str, i: int) -> str:
        by_rule: dict[str, list[Case]] = defaultdict(list)
        for found, case in cases(workload, _part(env, n, i, i + 1), 1, names):
            by_rule[found].append(case)
        return rule(name, 1, by_rule[name]).sentence(0)

    for name in listed:
        yield RuleColumn(name, broken[name], partial(sentence, name))


def _part(env: Mapping[str, Any], n: int, first: int, last: int) -> dict[str, Any]:
    """Some rows of all columns; values that hold for all rows stay."""
    import numpy as np

    return {name: v[first:last] if np.shape(v) == (n,) else v for name, v in env.items()}
