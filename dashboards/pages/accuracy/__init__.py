"""The page of predictions against measurements."""
