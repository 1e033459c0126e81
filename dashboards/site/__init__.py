"""The web application: one process that carries the pages and the API over one store."""
