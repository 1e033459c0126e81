"""The pages: a module each, with its layout and its callbacks."""
