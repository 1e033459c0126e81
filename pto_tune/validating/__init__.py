"""Predictions beside published results: errors, order, and whether the limits that the project sets itself are met."""
