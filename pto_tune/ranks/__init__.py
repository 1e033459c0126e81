"""The time-ordered engine: workloads on several ranks, where what happens depends on when it is asked."""
