"""Parts of the page of a new run: its fields, and the sentences about its space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboards.pages.new.form import domain_text, label_of
from dashboards.site.parts import html

if TYPE_CHECKING:
    from dashboards.api.counting import Counted
    from pto_tune.model.nodes import Parameter, Tunable, Workload
    from pto_tune.search.strategies import Plan

DEBOUNCE_S = 0.4
_RULES_SHOWN = 5

STRATEGY_WORDS = {
    "exhaustive": "looks at every configuration",
    "bounds": "runs only what may be better than the best",
    "evolution": "samples by evolution",
    "tpe": "samples by TPE",
    "nsga2": "samples by NSGA-II",
    "qmc": "samples a low-discrepancy sequence",
    "random": "samples at random",
}


def field(id: Any, label: str, help: Any, value: str, options: Sequence[str] = (), **more: Any) -> Any:
    """A labelled text field with a line of help; `options` are suggested while typing."""
    from dash import dcc

    h = html()
    key = id if isinstance(id, str) else json.dumps(id, sort_keys=True, separators=(",", ":"))
    listed: Any = {"list": f"{key}-options"} if options else {}
    box = dcc.Input(id=id, type="text", value=value, debounce=DEBOUNCE_S, autoComplete="off", spellCheck=False,
                    maxLength=4000, **listed, **more)  # fmt: skip
    suggestions = [h.Datalist([h.Option(value=o) for o in options], id=f"{key}-options")] if options else []
    return h.Div([h.Label(label, htmlFor=key), box, *suggestions, h.P(help, className="note")], className="field")


def size_fields(workload: Workload, texts: Mapping[str, str]) -> list[Any]:
    """A field for every problem size."""
    return [_of_parameter(workload, p, "size", "s", texts.get(p.name, ""), str(label_of(p, p.default)))
            for p in workload.problem]  # fmt: skip


def domain_fields(workload: Workload, texts: Mapping[str, str]) -> list[Any]:
    """A field for every tunable."""
    return [_of_parameter(workload, t, "domain", "d", texts.get(t.name, ""), domain_text(t, t.domain))
            for t in workload.tunables]  # fmt: skip


def _of_parameter(workload: Workload, p: Parameter | Tunable, kind: str, letter: str, text: str, default: str) -> Any:
    h = html()
    labels = [name for name in p.labels if name]
    allowed = " or ".join(labels) if 0 < len(labels) < 3 else ", ".join(labels)
    allowed = allowed or (f"{p.minimum:,} to {p.maximum:,}" if p.maximum < 2**31 else f"from {p.minimum:,}")
    id = {"type": f"new-{kind}", "workload": workload.name, "name": p.name}
    said = {"type": "new-said", "field": f"{letter}.{p.name}", "workload": workload.name}
    help = [p.doc[:1].upper() + p.doc[1:], f" ({allowed}).", h.Span(id=said, className="said", role="status")]
    return field(id, p.name, help, text, labels if kind == "size" else (), placeholder=default)


def counted_words(counted: Counted) -> list[Any]:
    """The live counts."""
    h = html()
    share = f"{100 * counted.legal / counted.size:.3g}\N{NO-BREAK SPACE}%" if counted.size else "–"
    if counted.exact:
        legal = [h.B(f"{counted.legal:,}"), f" of them legal ({share})"]
        note = ""
    else:
        legal = [h.B(f"about {_rounded(counted.legal):,}"), f" of them legal ({share})"]
        low, high = (100 * n / counted.size for n in (counted.low, counted.high))
        note = f"Estimated from {counted.looked_at:,} drawn at random: {low:.3g} to {high:.3g} % (95 % interval)."
    out = [h.P([h.B(f"{counted.size:,}"), " configurations, ", *legal, "."], className="counted")]
    if note:
        out.append(h.P(note, className="note"))
    if counted.refused:
        most = sorted(counted.refused.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(
            f"{name} {100 * n / counted.looked_at:.3g}\N{NO-BREAK SPACE}%" for name, n in most[:_RULES_SHOWN]
        )
        more = f", and {len(most) - _RULES_SHOWN} more rules" if len(most) > _RULES_SHOWN else ""
        out.append(h.P(f"Refused by {listed}{more}, by the first rule that does.", className="note"))
    if not counted.legal:
        none = "No configuration is legal" if counted.exact else "None of the sample is legal"
        out.append(h.P(f"{none}: the run would only show why.", className="note warn"))
    return out


def plan_words(plan: Plan, size: int) -> str:
    """What a search would do."""
    from pto_tune.search.strategies import passes_refused

    words = STRATEGY_WORDS[plan.strategy]
    if plan.strategy == "exhaustive":
        if passes_refused(plan.strategy, size):
            return f"The run looks at {plan.budget:,} legal configurations and counts the refused ones."
        return f"The run {words}." if plan.budget >= size else f"The run looks at the first {plan.budget:,}."
    return f"The run {words}: {plan.budget:,} configurations, seed {plan.seed}."


def _rounded(number: int) -> int:
    """Three digits of an estimate."""
    factor: int = 10 ** max(0, len(str(number)) - 3)
    return (number + factor // 2) // factor * factor
