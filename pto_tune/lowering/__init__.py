"""From a workload under a rule set to code: what the executor runs, and the columns that its numbers come from."""
