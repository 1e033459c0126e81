"""The JSON API under /api/v1: the same service as the command line, typed and described by OpenAPI."""
