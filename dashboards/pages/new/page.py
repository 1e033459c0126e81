"""A new run: workload, platform, sizes and domains with live counts of legal configurations; start it from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboards.pages.new.form import DEFAULT_RULES, Form, command, kernel, read, rule_set_names
from dashboards.pages.new.parts import counted_words, domain_fields, field, plan_words, size_fields
from dashboards.site.page import Callbacks, Page, Place, address
from dashboards.site.parts import button, card, choice, code, html, state_store

if TYPE_CHECKING:
    from dashboards.site.state import Site
    from pto_tune.search.strategies import Plan

READ_ONLY = "This server only reads: start it with --allow-runs, or run the command below."
DOMAIN_HELP = "Values between commas; 4-8 is 4 to 8, 4-8:2 in steps of 2. An empty field means what it shows in grey."
_TEXTS = ("budget", "seconds", "seed", "name")
_CHOICES = ("workload", "platform", "rules", "timing", "strategy")


def layout(site: Site, place: Place) -> Any:
    """The page."""
    from cost_models.launch import TIMINGS
    from cost_models.platform import platform_names
    from pto_tune.search.strategies import STRATEGIES
    from pto_tune.workloads import workload, workload_names

    h = html()
    form = _form(site, place)
    found = workload(form.workload)
    how = [
        field("new-budget", "Budget", "Configurations to look at; empty: all, or as many as the strategy needs.",
              form.budget, inputMode="numeric"),
        field("new-seconds", "Seconds", "Stop after so long; empty: no limit.", form.seconds, inputMode="numeric"),
        field("new-seed", "Seed", "Of a strategy that samples; the same one finds the same.", form.seed,
              inputMode="numeric", placeholder="0"),
        field("new-name", "Name", "Of the run; empty: workload-platform-number.", form.name),
    ]  # fmt: skip
    return [
        h.H1("New run"),
        state_store("new"),
        card(
            "What to tune",
            h.Div(
                [
                    choice("new-workload", "Workload", workload_names(), form.workload, maxHeight=420),
                    choice("new-platform", "Platform", platform_names(), form.platform),
                    choice("new-rules", "Pipe rules (pto-isa)", rule_options(form.platform), form.rules),
                    choice("new-timing", "Timing", list(TIMINGS), form.timing),
                    choice("new-strategy", "Strategy", list(STRATEGIES), form.strategy),
                ],
                className="controls",
            ),
            h.P(found.doc, id="new-doc", className="note"),
        ),
        h.Div(
            [
                h.Div(
                    [
                        card("Sizes", h.Div(size_fields(found, form.sizes), id="new-sizes", className="fields")),
                        card(
                            "Domains",
                            h.Div(domain_fields(found, form.domains), id="new-domains", className="fields"),
                            note=DOMAIN_HELP,
                        ),
                        card("Search", h.Div(how, className="fields")),
                    ]
                ),
                card(
                    "This space",
                    h.Div(h.P("Counting …", className="note"), id="new-count", **{"aria-live": "polite"}),
                    h.Div(
                        [
                            button("new-start", "Start the run", className="button primary", disabled=True),
                            h.Span("" if site.allow_runs else READ_ONLY, id="new-why", className="note"),
                        ],
                        className="start",
                    ),
                    h.Details([h.Summary("The same from a terminal"), h.Div(id="new-command")]),
                    className="space",
                ),
            ],
            className="new",
        ),
    ]


def _form(site: Site, place: Place) -> Form:
    """What the address says, on top of the run that it names with `run`, if it names one."""
    run = place.text("run")
    return Form.from_run(site.views.run(run)) if run else Form.from_place(place)


def rule_options(platform: str) -> list[dict[str, str]]:
    """The rule sets of a platform's family."""
    from cost_models.platform import load_platform
    from pto_tune.rule_sets import rule_set_for

    default = rule_set_for(load_platform(platform).family).name
    shown = {DEFAULT_RULES: f"default ({default})"}
    return [{"label": shown.get(name, name), "value": name} for name in rule_set_names(platform)]


def form_of(choices: Sequence[Any], texts: Sequence[Any], sizes: Mapping[str, Any], domains: Mapping[str, Any]) -> Form:
    """The form from the values of its components, in the order of `_CHOICES` and `_TEXTS`."""
    return Form(
        **{name: str(value) for name, value in zip(_CHOICES, choices, strict=True)},
        **{name: str(value or "").strip() for name, value in zip(_TEXTS, texts, strict=True)},
        sizes={name: str(text) for name, text in sizes.items() if str(text or "").strip()},
        domains={name: str(text) for name, text in domains.items() if str(text or "").strip()},
    )


def judged(form: Form) -> tuple[list[Any], dict[str, str], bool]:
    """What there is to say about the space, what beside each field (by `s.NAME`, `d.NAME`), whether it can start."""
    from dashboards.api.counting import count_legal
    from dashboards.api.wishes import checked_wish

    h = html()
    found = read(form)
    said = {f"d.{name}": _counted(n) for name, n in found.counts.items()}
    said |= dict.fromkeys((f"s.{p.name}" for p in found.workload.problem), "")
    faults = list(found.faults)
    if found.wish is None:
        return _wrong(h, faults, said)
    try:
        problem = kernel(form.workload, form.platform, form.rules, form.timing)
    except ValueError as error:
        return _wrong(h, [("platform", line) for line in str(error).splitlines()], said)
    space, plan, more = checked_wish(found.workload, found.wish)
    short = {"problem": "s", "domains": "d"}
    for path, sentence in more:
        where, slash, name = path.partition("/")
        faults.append((f"{short[where]}.{name}" if slash else path, sentence))
    if space is None:
        return _wrong(h, faults, said)
    words = counted_words(count_legal(problem, space))
    if faults:
        listed, said, _ = _wrong(h, faults, said)
        return [*words, *listed], said, False
    assert plan is not None
    return [*words, _plan(h, plan, space.size)], said, True


def _plan(h: Any, plan: Plan, size: int) -> Any:
    return h.P(plan_words(plan, size), className="note")


def _wrong(h: Any, faults: Sequence[tuple[str, str]], said: dict[str, str]) -> tuple[list[Any], dict[str, str], bool]:
    told = dict(said)
    for where, sentence in faults:
        if where in told:
            told[where] = sentence.removeprefix(f"{where[2:]}: ")
    listed = h.Ul([h.Li(sentence) for _, sentence in dict(faults).items()], className="warn")
    return [h.P("Not yet a run:", className="note"), listed], told, False


def _counted(n: int) -> str:
    return f" {n:,} values" if n > 1 else " 1 value"


def callbacks(on: Callbacks, site: Site) -> None:
    """What the page does."""
    from dash import ALL, Input, Output, State, no_update
    from dash.exceptions import PreventUpdate

    from pto_tune.workloads import workload as built_in

    def inputs(kind: Any) -> list[Any]:
        parts = [kind(f"new-{name}", "value") for name in (*_CHOICES, *_TEXTS)]
        for of in ("size", "domain"):
            every = {"type": f"new-{of}", "workload": ALL, "name": ALL}
            parts += [kind(every, "value"), State(every, "id")]
        return parts

    def form_from(values: Sequence[Any]) -> Form:
        choices, rest = values[: len(_CHOICES)], values[len(_CHOICES) :]
        texts, (sizes, size_ids, domains, domain_ids) = rest[: len(_TEXTS)], rest[len(_TEXTS) :]
        if any(i["workload"] != choices[0] for i in (*size_ids, *domain_ids)) or None in choices:
            raise PreventUpdate  # the fields of the chosen workload are on their way
        return form_of(
            choices,
            texts,
            {i["name"]: v for i, v in zip(size_ids, sizes, strict=True)},
            {i["name"]: v for i, v in zip(domain_ids, domains, strict=True)},
        )

    @on(
        Output("new-sizes", "children"), Output("new-domains", "children"), Output("new-doc", "children"),
        Input("new-workload", "value"), prevent_initial_call=True,
    )  # fmt: skip
    def fields(name: str) -> tuple[Any, Any, str]:
        found = built_in(name)
        return size_fields(found, {}), domain_fields(found, {}), found.doc

    @on(
        Output("new-rules", "options"), Output("new-rules", "value"), Input("new-platform", "value"),
        State("new-rules", "value"), prevent_initial_call=True,
    )  # fmt: skip
    def rules(platform: str, chosen: str) -> tuple[Any, Any]:
        return rule_options(platform), no_update if chosen in rule_set_names(platform) else DEFAULT_RULES

    @on(
        Output("new-count", "children"),
        Output("new-start", "disabled"),
        Output("new-command", "children"),
        Output({"type": "new-said", "workload": ALL, "field": ALL}, "children"),
        Output({"type": "new-said", "workload": ALL, "field": ALL}, "className"),
        State({"type": "new-said", "workload": ALL, "field": ALL}, "id"),
        *inputs(Input),
    )
    def count(ids: list[dict[str, str]], *values: Any) -> tuple[Any, bool, Any, list[str], list[str]]:
        form = form_from(values)
        words, said, ready = judged(form)
        faulty = {where for where, _ in read(form).faults}
        line = code(command(form), label="the command") if ready else html().P("As soon as it is a run.")
        return (
            words,
            not (ready and site.allow_runs),
            line,
            [said.get(i["field"], "") for i in ids],
            ["said warn" if i["field"] in faulty else "said" for i in ids],
        )

    @on(Output({"type": "address", "page": "new"}, "data"), *inputs(Input), prevent_initial_call=True)
    def keep(*values: Any) -> dict[str, str]:
        return form_from(values).to_query()

    @on(
        Output("url", "href", allow_duplicate=True),
        Input("new-start", "n_clicks"),
        *inputs(State),
        prevent_initial_call=True,
        running=[(Output("new-start", "disabled"), True, False)],
    )
    def start(clicks: int | None, *values: Any) -> Any:
        if not clicks:
            raise PreventUpdate
        found = read(form_from(values))
        if found.wish is None:
            raise ValueError("\n".join(sentence for _, sentence in found.faults))
        return address("runs", site.sweeps.start(found.wish).id)


PAGE = Page("/new", "New run", layout, callbacks, nav="New run")
