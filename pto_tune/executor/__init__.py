"""The executor: exact integer cycles for whole tables of configurations."""
