"""The page that sets runs and configurations side by side."""
