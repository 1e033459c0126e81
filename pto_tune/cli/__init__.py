"""The command line: one module a verb, put together by `pto_tune.cli.main`."""
