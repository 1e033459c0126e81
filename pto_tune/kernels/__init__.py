"""PTOAS kernels: `.pto` files (MLIR text) as workloads, and as programs to be checked.

`reading.read_kernel` makes a workload of a file, `linting.lint` says what is wrong with it and where. The parser
(tree-sitter with its MLIR grammar) is the extra `pto`; nothing of it is imported before a file is read.
"""
