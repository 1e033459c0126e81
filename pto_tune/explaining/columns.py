"""Columns of a timeline's tables: of its operations, and of the sources that they wait for."""

KIND, AT, DURATION, END, START, BASE, DECIDER, FIRST = range(8)
PRODUCER, CHANNEL, CONSTANT, COLUMN = range(4)
