"""The description of a workload: expressions, programs, buffers, pipes, and their JSON form."""
