"""Measurements from a board: files of them checked row by row, and the list of what is worth measuring."""
