"""Figures: each a data function, whose result a figure function draws."""
