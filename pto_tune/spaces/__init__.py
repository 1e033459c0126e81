"""Spaces of any size: their legal configurations counted, gone through and drawn without a look at the refused ones.

A static rule reads a few tunables only. It is evaluated on the product of their domains (`tables`), and all rules
together become a diagram over the tunables (`diagram`) that counts, lists and draws what they let through.
"""
