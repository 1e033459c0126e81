"""Traces and summaries of real runs beside the predicted timeline."""
