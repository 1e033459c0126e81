"""Runs as one HTML file that opens offline."""
