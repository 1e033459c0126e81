"""The command `pto-tune serve`."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence


class ServeError(ValueError):
    """The server cannot be started as asked."""


def register(app: typer.Typer) -> None:
    """Add the command `serve` to `app`."""
    app.command(name="serve", short_help="Open the dashboards and the API over the store.")(serve)


def serve(
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="URL", envvar="PTO_TUNE_DB", show_default="sqlite:///pto-tune.db",
                     help="The store to show."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes any that is free.")] = 8050,
    allow_runs: Annotated[
        bool, typer.Option("--allow-runs", help="Let pages and API start and stop sweeps. Without it they only read.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME",
                     help="A host name, beside localhost, that requests may be addressed to; may be given again."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="PTO_TUNE_TOKEN", show_default=False, show_envvar=True,
                     help="What requests have to show; needed where the address is not of this machine alone. "
                     "Better given by the environment, where other users cannot read it."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the first page in a browser.")] = False,
) -> None:  # fmt: skip
    """Open the dashboards over the runs of a store: see trade-offs, explain configurations, start sweeps.

    The pages stand at the address that is printed, the API below it at /api/v1 (described at /api/v1/docs). Everything
    is served from this machine; no page asks another host for anything. Ctrl-C ends the server; sweeps that it runs
    stop after the batch in hand and keep what they have.

    \b
    Examples:
      pto-tune serve
      pto-tune serve --allow-runs --port 0 --open
      PTO_TUNE_TOKEN=... pto-tune serve --host 0.0.0.0 --allow-host tuning.example
    """
    try:
        _serve(db, host, port, allow_runs, allow_host or (), token, open_browser)
    except ValueError as error:
        for line in str(error).splitlines():
            typer.echo(f"pto-tune: {line}", err=True)
        raise typer.Exit(2) from error


def _serve(
    db: str | None, host: str, port: int, allow_runs: bool, hosts: Sequence[str], token: str | None, browse: bool
) -> None:
    from dashboards.site.gate import LOOPBACK

    if host not in LOOPBACK and not token:
        raise ServeError(
            f"--host {host} lets other machines in: give a token by the variable PTO_TUNE_TOKEN (or --token)"
        )
    if token is not None and len(token) < 16:
        raise ServeError("the token is short enough to be guessed: give at least 16 characters")
    listening = listen(host, port)
    try:
        import uvicorn

        from dashboards.site.app import build
        from dashboards.site.state import Site
        from db import open_store

        with open_store(db) as store:
            site = Site(store, allow_runs=allow_runs)
            site.warm()
            named = [] if host in ("0.0.0.0", "::") else [host]
            application = build(site, hosts=[*named, *hosts], token=token)
            config = uvicorn.Config(application, log_level="warning", access_log=False, ws="none", lifespan="on",
                                    timeout_graceful_shutdown=3)  # fmt: skip
            server = uvicorn.Server(config)
            shown = url(host, listening.getsockname()[1])
            typer.echo(f"pto-tune is at {shown} (store {store.url}); Ctrl-C ends it")
            if browse:
                import webbrowser

                webbrowser.open(shown + (f"?token={token}" if token else ""))
            try:
                server.run(sockets=[listening])
            except KeyboardInterrupt:
                pass
            finally:
                site.close()
    finally:
        listening.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at `host` and `port`. Errors: ServeError where it cannot."""
    listening = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, place = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except OSError as error:
        if listening is not None:
            listening.close()
        raise ServeError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; give another --port, or 0 for any"
        ) from None
    return listening


def url(host: str, port: int) -> str:
    """Where a browser finds the server."""
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
