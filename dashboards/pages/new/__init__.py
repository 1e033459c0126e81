"""The page that starts a run."""
