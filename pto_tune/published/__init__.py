"""Published results that a built-in workload covers, one CSV file a table: facts with their sources."""
