"""Scalar code of a core: stack programs over integers, and a heap of what happens next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare

Ints = NDArray[np.int64]

STACK = 64
"""Deepest stack: an expression is nested no deeper."""


@bare
def value_of(bytecode: Ints, at: int, scalars: Ints, instance: int, variables: Ints, stack: Ints) -> int:
    """The value of the program that starts at `at`; // and % as in `expr.evaluate`, 0 for a divisor of 0."""
    n = 0
    while True:
        op = bytecode[at, 0]
        if op == 0:
            return int(stack[n - 1])
        if op == 1:
            stack[n] = bytecode[at, 1]
            n += 1
        elif op == 2:
            stack[n] = scalars[instance, bytecode[at, 1]]
            n += 1
        elif op == 3:
            stack[n] = variables[instance, bytecode[at, 1]]
            n += 1
        elif op == 20:  # not
            stack[n - 1] = 1 if stack[n - 1] == 0 else 0
        elif op == 21:  # where
            n -= 2
            stack[n - 1] = stack[n] if stack[n - 1] != 0 else stack[n + 1]
        else:
            n -= 1
            a, b = stack[n - 1], stack[n]
            r = 0
            if op == 4:
                r = a + b
            elif op == 5:
                r = a - b
            elif op == 6:
                r = a * b
            elif op == 7:
                r = a // b if b != 0 else 0
            elif op == 8:
                r = a % b if b != 0 else 0
            elif op == 9:
                r = -((-a) // b) if b != 0 else 0
            elif op == 10:
                r = min(a, b)
            elif op == 11:
                r = max(a, b)
            elif op == 12:
                r = 1 if a == b else 0
            elif op == 13:
                r = 1 if a != b else 0
            elif op == 14:
                r = 1 if a < b else 0
            elif op == 15:
                r = 1 if a <= b else 0
            elif op == 16:
                r = 1 if a > b else 0
            elif op == 17:
                r = 1 if a >= b else 0
            elif op == 18:
                r = 1 if a != 0 and b != 0 else 0
            else:
                r = 1 if a != 0 or b != 0 else 0
            stack[n - 1] = r
        at += 1


@bare
def compares(value: int, comparison: int, with_: int) -> bool:
    """A signal's value against an operand, by the order of `communication.COMPARISONS`."""
    if comparison == 0:
        return value == with_
    if comparison == 1:
        return value != with_
    if comparison == 2:
        return value > with_
    if comparison == 3:
        return value >= with_
    if comparison == 4:
        return value < with_
    return value <= with_


@bare
def push(heap: Ints, n: int, time: int, key: int) -> int:
    """Add to a heap (rows of time and key, the least first) of n entries; returns n + 1. The caller has made room."""
    at = n
    while at > 0:
        up = (at - 1) >> 1
        if heap[up, 0] < time or (heap[up, 0] == time and heap[up, 1] < key):
            break
        heap[at, 0] = heap[up, 0]
        heap[at, 1] = heap[up, 1]
        at = up
    heap[at, 0] = time
    heap[at, 1] = key
    return n + 1


@bare
def drop_first(heap: Ints, n: int) -> int:
    """Take the first entry off a heap of n entries; returns n - 1."""
    n -= 1
    time, key = heap[n, 0], heap[n, 1]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= n:
            break
        right = down + 1
        if right < n and (
            heap[right, 0] < heap[down, 0] or (heap[right, 0] == heap[down, 0] and heap[right, 1] < heap[down, 1])
        ):
            down = right
        if time < heap[down, 0] or (time == heap[down, 0] and key < heap[down, 1]):
            break
        heap[at, 0] = heap[down, 0]
        heap[at, 1] = heap[down, 1]
        at = down
    heap[at, 0] = time
    heap[at, 1] = key
    return n
