"""The check of programs: nodes of every kind, their tiles and costs, and what they refer to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pto_tune.lowering.costs import MODELS
from pto_tune.model import fixpipe
from pto_tune.model.check_remote import RemoteNodes
from pto_tune.model.check_values import MAX_LOOPS, MAX_NODES, Names
from pto_tune.model.communication import Remote
from pto_tune.model.expr import brief, one_of
from pto_tune.model.nodes import (
    PIPES,
    TILE_KINDS,
    Call,
    Cost,
    Instr,
    Loop,
    Node,
    Talloc,
    TConfig,
    Tfree,
    Tile,
    Tpop,
    Tpush,
    While,
)

KINDS = {cls.__name__.lower(): cls for cls in Node.__args__}
"""Nodes of a program by the name of their kind in JSON."""

TEXT_ARGS = ("path", "family")
"""Arguments of costs that are texts; all others are expressions."""

_SPECIAL = ("block", "sub", "rank")  # names that every expression of a program may use; `sub` of AIC is 0
_TCONFIG = {
    "layout": fixpipe.LAYOUTS,
    "quant": fixpipe.OUTPUT_TYPES,
    "relu": fixpipe.RELU_MODES,
    "phase": fixpipe.PHASES,
    "atomic": fixpipe.ATOMICS,
}


class Programs(RemoteNodes):
    """Checks the nodes of programs against what is defined: buffers, rings, FIFOs, signals and staging tiles.

    `ends` has the FIFOs that a core fills (True) or empties (False).
    """

    def __init__(self, unread: Collection[str]) -> None:
        super().__init__(unread)
        self.buffers = {core: Names(unread, "buffers") for core in PIPES}
        self.rings = {core: Names(unread, "rings") for core in PIPES}
        self.ends = {(core, fills): Names(unread, "fifos") for core in PIPES for fills in (True, False)}
        self.nodes = 0

    def program(self, place: str, core: str, body: Sequence[Node]) -> None:
        """The nodes, then what refers to events and labels from anywhere in the program."""
        self.events, self.labels, self.labelled, self.steady = Names(), Names(), dict[str, Instr](), 0
        complete = not any(at.startswith(place) for at in self.unread)
        self.events.complete = self.labels.complete = complete
        self.collect(place, body, complete)
        self.waits, self.pairs = list[tuple[str, Any]](), list[tuple[str, Any]]()
        self.body(place, core, body, 0)
        for at, event in self.waits:
            self.refer(at, event, f"event of {core}", self.events)
        for at, pair in self.pairs:
            if len(pair) != 2:
                self.say(at, f"has {len(pair)} labels: expected those of a matmul and of its drain")
            for i, label in enumerate(pair):
                self.refer(f"{at}[{i}]", label, f"label of an instruction of {core} with costs", self.labels)
            costs = [self.labelled[x].costs for x in pair if isinstance(x, str) and x in self.labelled]
            if len(costs) == 2 and not any(cost.model == "drain" for cost in costs[0] + costs[1]):
                self.say(at, "names no instruction with a drain: expected a matmul and its drain")

    def body(self, place: str, core: str, body: Sequence[Node], loops: int) -> None:
        for i, node in enumerate(body):
            at = f"{place}[{i}]"
            self.nodes += 1
            if self.nodes == MAX_NODES + 1:
                self.say("programs", f"have more than {MAX_NODES} nodes: expected fewer, with loops")
            if self.nodes > MAX_NODES:
                return
            match node:
                case Instr():
                    self.instr(at, core, node)
                case Loop() | While():
                    self.loop(at, core, node, loops)
                case Talloc() | Tpush() | Tpop() | Tfree():
                    self.call(at, core, node)
                case _ if isinstance(node, Remote):
                    self.remote(at, core, node, *_SPECIAL)
                case _:
                    self.say(at, f"{brief(node)} is no node: expected {one_of(KINDS)}")

    def loop(self, place: str, core: str, node: Loop | While, loops: int) -> None:
        if loops == MAX_LOOPS:
            self.say(place, f"loops are nested too deeply: expected at most {MAX_LOOPS} levels")
            return
        self.leaves(place, node, *_SPECIAL, local=self.variables if self.ranked or self.variables else ())
        if isinstance(node, While):
            self.needs_ranks(place)
        else:
            self.steady += node.steady is True
            if node.steady is True and (loops or self.steady > 1):
                self.say(f"{place}.steady", "is true: expected it of one loop of a program, at top level")
            if node.index != "":
                self.needs_ranks(f"{place}.index")
                self.variable(f"{place}.index", node.index)
        self.body(f"{place}.body", core, node.body, loops + 1)

    def instr(self, place: str, core: str, node: Instr) -> None:
        self.name(f"{place}.name", node.name)
        self.refer(f"{place}.pipe", node.pipe, f"pipe of {core}", PIPES[core])
        self.leaves(place, node)
        self.transfer(place, core, node)
        for part, fills in (("writes", True), ("reads", False)):
            what = f"ring of {core} or FIFO that {core} {'fills' if fills else 'empties'}"
            for at, track in self.items(f"{place}.{part}", getattr(node, part)):
                self.refer(at, track, what, self.ends[core, fills], self.rings[core])
        self.order(place, node)
        if node.label != "":
            self.label(f"{place}.label", node)

    def transfer(self, place: str, core: str, node: Instr | Tile) -> None:
        """Costs, and the buffers that are waited for and handed on."""
        for at, cost in self.items(f"{place}.costs", node.costs):
            self.cost(at, cost)
        for part in ("acquires", "takes"):
            for at, buffer in self.items(f"{place}.{part}", getattr(node, part)):
                self.refer(at, buffer, f"buffer of {core}", self.buffers[core])
        for part in ("publishes", "releases"):
            for at, token in self.items(f"{place}.{part}", getattr(node, part)):
                where = at if token.unit_flag is None and isinstance(token.buffer, str) else f"{at}.buffer"
                self.refer(where, token.buffer, f"buffer of {core}", self.buffers[core])
                self.pairs += [] if token.unit_flag is None else [(f"{at}.unit_flag", token.unit_flag)]

    def call(self, place: str, core: str, node: Call) -> None:
        fills = isinstance(node, Talloc | Tpush)
        what = f"FIFO that {core} {'fills' if fills else 'empties'}"
        self.refer(f"{place}.fifo", node.fifo, what, self.ends[core, fills])
        self.leaves(place, node, *_SPECIAL)
        if isinstance(node, Tpush | Tpop) and node.tile is not None:
            self.tile(f"{place}.tile", core, node.tile)
        if isinstance(node, Tpush):
            self.overload(place, node)
        self.order(place, node)

    def tile(self, place: str, core: str, tile: Tile) -> None:
        if not isinstance(tile, Tile):
            self.say(place, f"is {brief(tile)}: expected a tile")
            return
        self.refer(f"{place}.kind", tile.kind, "kind of tile", TILE_KINDS)
        self.leaves(place, tile, *_SPECIAL)
        self.transfer(place, core, tile)

    def overload(self, place: str, push: Tpush) -> None:
        """The TConfig and the simplified form, both of TileData and one at a time."""
        if push.tile is None and push.config is not None:
            self.say(f"{place}.config", "is given without a tile: expected a tile, or no configuration")
        if push.simplified is True and (push.tile is None or push.config is not None):
            has = "without a tile" if push.tile is None else "with a configuration"
            self.say(f"{place}.simplified", f"is true {has}: expected it of a tile alone")
        if push.config is not None:
            self.config(f"{place}.config", push.config)

    def config(self, place: str, config: TConfig) -> None:
        if not isinstance(config, TConfig):
            self.say(place, f"is {brief(config)}: expected a configuration")
            return
        self.leaves(place, config)
        for part, known in _TCONFIG.items():
            self.refer(f"{place}.{part}", getattr(config, part), f"{part} of TConfig", known)
        if config.clip_relu != "":
            self.name(f"{place}.clip_relu", config.clip_relu)

    def label(self, place: str, node: Instr) -> None:
        """A label names one duration, so whatever has it costs the same."""
        self.define(place, node.label, Names(), *([self.labels] if node.costs else []))
        if node.costs and isinstance(node.label, str):
            first = self.labelled.setdefault(node.label, node)
            if self.comparable and (first.pipe, first.costs) != (node.pipe, node.costs):
                at, what = self.labels[node.label], brief(node.label)
                self.say(place, f"{what} has another pipe or other costs at {at}: expected the same")

    def cost(self, place: str, cost: Cost) -> None:
        self.refer(f"{place}.model", cost.model, "cost model", MODELS)
        known = MODELS.get(cost.model, ()) if isinstance(cost.model, str) else ()
        given = [key for key, _ in cost.args]
        for key in known:
            if given.count(key) != 1:
                self.say(f"{place}.{key}", f"stands there {given.count(key)} times: expected it once")
        for key, value in cost.args if known else ():
            if key not in known:
                self.say(place, f"{cost.model} has no argument {brief(key)}: expected {one_of(known)}")
            elif key == "path":
                from cost_models.dma import PATHS  # brings NumPy

                self.refer(f"{place}.path", value, "DMA path", PATHS)
            elif key == "family":
                self.name(f"{place}.family", value)
            else:
                self.expression(f"{place}.{key}", value, *_SPECIAL)
