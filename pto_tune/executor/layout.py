"""Numbers that the kernels agree on: the tracer's status and info vector, and the sizes of its windows."""

from __future__ import annotations

# status
OK = 0
HANG = 1
FULL = 2  # a buffer given by the caller is too small

# info vector
I_STATUS = 0
I_OPS = 1
I_SOURCES = 2
I_REGISTERS = 3
I_WINDOW_START = 4
I_WINDOW_END = 5
I_STATE = 6  # registers of the window's state
I_LEFT = 7  # tokens left in hardware flag counters at the end
I_QUEUE = 8  # bit of every pipe whose queue limit may matter and was not emitted
I_FINAL = 9  # register of the end of the run
I_ROUNDS = 10
I_SKIPPED = 11  # windows left out
I_NEEDED = 12  # bit of every pipe whose queue limit may matter
I_RUNS = 13  # times that the tracer ran; 0 where another structure's trace is this one's
I_TRIPS = 14  # steady trips of one window (of the core with the most)
I_SIZE = 15

SNAPSHOT = 4096
"""Numbers that describe the state at the end of a round, at most."""

MAX_ROUNDS = 192
"""Rounds in which a window is looked for."""

REMATERIALISED = -1000
"""`kind` of a bookkeeping operation that stands for no event."""
