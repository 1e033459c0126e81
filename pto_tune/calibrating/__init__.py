"""Numbers of a platform fitted to measurements: what can be determined, its values, and a new platform file."""
