"""Which operation of the lowered programs comes of which node, so that a hang can be shown in the file."""

from __future__ import annotations

from pto_tune.kernels.faults import Place
from pto_tune.lowering.compile import Compiler
from pto_tune.lowering.ranks import RankCompiler
from pto_tune.model.nodes import Loop, Node, Talloc, Tpush, Workload
from pto_tune.rule_sets import RuleSet

Way = tuple[str | int, ...]


def ways_of_operations(workload: Workload, rules: RuleSet) -> dict[int, Way]:
    """The way to the node of every operation that a node makes, as `evaluation.Problem` lowers the workload."""
    found: dict[int, Way] = {}

    class Placing(RankCompiler if workload.has_ranks else Compiler):  # type: ignore[misc]
        """Compiles node by node, and notes what each one makes."""

        way: Way = ()

        def _body(self, core: str, sub: int, body: tuple[Node, ...], top: bool = False) -> None:
            outer = (core[:3],) if top else self.way
            if top and workload.has_ranks:
                self._declare(core, body)
            for i, node in enumerate(body):
                self.way = (*outer, i)
                first = len(self.ops)
                if workload.has_ranks:
                    super()._body(core, sub, (node,))
                else:
                    super()._body(core, sub, (node,), top)
                self.way = (*outer, i)
                if not isinstance(node, Loop):
                    for op in range(first, len(self.ops)):
                        found[op] = self.way
            self.way = outer

    Placing(workload, rules).run()
    return found


def node_at(workload: Workload, way: Way) -> Node | None:
    """The node at the end of a way."""
    body = dict(workload.programs).get(str(way[0]), ())
    node: Node | None = None
    for i in way[1:]:
        node = body[int(i)]
        body = node.body if isinstance(node, Loop) else ()
    return node


def calls_of(workload: Workload, fifo: str, core: str | None = None) -> list[tuple[Way, Node]]:
    """The pipe calls of a FIFO, in order: those of the producer before those of the consumer."""
    found = list[tuple[Way, Node]]()

    def walk(way: Way, body: tuple[Node, ...]) -> None:
        for i, node in enumerate(body):
            if isinstance(node, Loop):
                walk((*way, i), node.body)
            elif getattr(node, "fifo", None) == fifo:
                found.append(((*way, i), node))

    for name, body in workload.programs:
        if core in (None, name):
            walk((name,), body)
    return sorted(found, key=lambda f: not isinstance(f[1], Talloc | Tpush))


def instructions_of(workload: Workload, name: str) -> list[Way]:
    """The ways to the instructions of a name."""
    found = list[Way]()

    def walk(way: Way, body: tuple[Node, ...]) -> None:
        for i, node in enumerate(body):
            if isinstance(node, Loop):
                walk((*way, i), node.body)
            elif getattr(node, "name", "").upper() == name.upper() or type(node).__name__.upper() == name.upper():
                found.append((*way, i))

    for core, body in workload.programs:
        walk((core,), body)
    return found


def place_of(places: dict[Way, Place], way: Way) -> Place | None:
    """The place of a node, or of the nearest part around it that has one."""
    while way:
        if way in places:
            return places[way]
        way = way[:-1]
    return None
