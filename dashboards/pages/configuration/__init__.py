"""The page of one configuration."""
