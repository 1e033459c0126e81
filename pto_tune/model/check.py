"""The check that a workload holds together."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from cost_models.keys import FAMILIES
from pto_tune.model import nodes
from pto_tune.model.check_programs import Programs
from pto_tune.model.check_values import MAX_BUFFERS, MAX_DOMAIN, MAX_FIFOS, MAX_TEXT, Names
from pto_tune.model.expr import MAX_VALUE, brief, one_of
from pto_tune.model.nodes import DIRECTIONS, FLOWS_OF, MEMORIES, PIPE_KINDS, PIPES, Workload

_RANKS = ("ranks", "ranks_per_node")


def check(workload: Workload) -> list[str]:
    """What is wrong with a workload: one sentence an error, with its place in the JSON form.

    Checked are names, texts, bounds, references and limits, not whether the program ends or fits into memory, nor
    what a platform makes of a pipe.
    """
    return Check(workload, set()).run()


class Check(Programs):
    """Checks a workload, what is defined before what refers to it; `unread` are places to say nothing about."""

    def __init__(self, workload: Workload, unread: Collection[str]) -> None:
        super().__init__(unread)
        self.workload = workload
        self.ranked = workload.has_ranks
        self.tracks = Names(unread, "rings", "fifos")

    def run(self) -> list[str]:
        w = self.workload
        self.name("name", w.name)
        self.text("doc", w.doc)
        if w.family != "":
            self.refer("family", w.family, "family of platforms", FAMILIES)
        for place, p in self.items("problem", w.problem) + self.items("tunables", w.tunables):
            self.parameter(place, p)
        for place, (name, value) in self.items("derived", w.derived):
            self.expression(f"{place}.value", value, "block")
            self.define(f"{place}.name", name, self.scope)
        for place, b in self.items("buffers", w.buffers, MAX_BUFFERS):
            self.memory(place, b, self.buffers)
        for place, r in self.items("rings", w.rings):
            self.memory(place, r, self.rings, self.tracks)
        for place, fifo in self.items("fifos", w.fifos, MAX_FIFOS):
            self.fifo(place, fifo)
        for place, signal in self.items("signals", w.signals, MAX_BUFFERS):
            self.signal(place, signal)
        for place, tile in self.items("staging", w.staging, MAX_BUFFERS):
            self.tile_of_staging(place, tile)
        self.programs()
        if self.needing_ranks and not self.ranked:
            self.say("ranks", f"is 0, and {self.needing_ranks} needs ranks: expected how many there are")
        self.leaves("launch", w.launch)
        self.leaves("", w, "block", but=_RANKS)
        for place in _RANKS:
            self.expression(place, getattr(w, place))
        rules = Names()
        for place, rule in self.items("rules", w.rules):
            self.define(f"{place}.name", rule.name, rules, marks="_-")
            self.leaves(place, rule, "block", "on_a5")
            self.sentence(f"{place}.sentence", rule)
        return self.faults

    def parameter(self, place: str, p: nodes.Parameter | nodes.Tunable) -> None:
        self.define(f"{place}.name", p.name, self.scope, self.sizes)
        self.text(f"{place}.doc", p.doc)
        low, high = -MAX_VALUE, MAX_VALUE
        if self.leaves(place, p):
            low, high = p.minimum, p.maximum
            if low > high:
                self.say(f"{place}.minimum", f"{low} is above the maximum: expected at most {high}")
            elif not low <= p.default <= high:
                self.say(f"{place}.default", f"{p.default} is out of range: expected {low} to {high}")
            if p.labels and (low < 0 or len(p.labels) != high + 1):
                has = f"has {len(p.labels)} labels for values from {low} to {high}"
                self.say(f"{place}.labels", f"{has}: expected one for each value from 0 to the maximum")
        labels = Names()
        for at, label in self.items(f"{place}.labels", p.labels):
            if label != "":
                self.define(at, label, labels)
        if isinstance(p, nodes.Tunable):
            domain = self.items(f"{place}.domain", p.domain, MAX_DOMAIN)
            values = [value for at, value in domain if self.integer(at, value, low, high)]
            if not p.domain or len(set(values)) < len(values):
                self.say(f"{place}.domain", "is empty or repeats a value: expected one or more, each once")

    def memory(self, place: str, m: Any, by_core: dict[str, Names], *shared: Names) -> None:
        """A buffer or ring. It may be of any core where the core is none."""
        self.refer(f"{place}.core", m.core, "core", PIPES)
        cores = [core for core in PIPES if core == m.core]
        for core in cores:
            self.refer(f"{place}.memory", m.memory, f"memory of {core}", MEMORIES[core])
        self.define(f"{place}.name", m.name, *shared, *(by_core[core] for core in cores or PIPES))
        self.leaves(place, m, "block")

    def fifo(self, place: str, fifo: nodes.Fifo) -> None:
        """A pipe. It may have both ways where its direction is none."""
        self.refer(f"{place}.direction", fifo.direction, "direction", DIRECTIONS)
        self.refer(f"{place}.kind", fifo.kind, "kind of pipe", PIPE_KINDS)
        flows = FLOWS_OF[fifo.direction if fifo.direction in DIRECTIONS else "BOTH"]
        ends = [self.ends[end] for flow in flows for end in (("AIC", flow == "C2V"), ("AIV", flow == "V2C"))]
        self.define(f"{place}.name", fifo.name, self.tracks, *ends)
        self.leaves(place, fifo, "block")
        for part in ("slot_num_name", "sync_period_name"):
            if getattr(fifo, part) != "":
                self.refer(f"{place}.{part}", getattr(fifo, part), "problem size or tunable", self.sizes)

    def programs(self) -> None:
        programs = self.workload.programs
        cores = [core for core, _ in programs]
        missing = [core for core in PIPES if core not in cores]
        if not programs or (self.workload.fifos and missing):
            self.say("programs", f"there is none of {one_of(missing)}: expected one, and both with a FIFO")
        for i, (core, body) in enumerate(programs):
            self.refer("programs", core, "core", PIPES)
            if core in cores[:i]:
                self.say("programs", f"{brief(core)} stands there twice: expected a core once")
            elif core in cores and core in tuple(PIPES):
                self.program(f"programs.{core}", core, body)

    def sentence(self, place: str, rule: nodes.Rule) -> None:
        """Only plain fields: `str.format` would otherwise reach attributes, and pad to gigabytes."""
        self.text(place, rule.sentence)
        allowed = ["{value}", "{limit}"] + ([] if rule.nearest is None else ["{nearest}"])
        text = rule.sentence[:MAX_TEXT] if isinstance(rule.sentence, str) else ""
        for found in re.findall(r"\{[^{}]*\}|[{}]", text):
            if found not in allowed:
                self.say(place, f"{brief(found)} is no field: expected {one_of(allowed)}")
