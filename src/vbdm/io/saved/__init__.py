"""Saved models: one file with named arrays and one JSON text, without pickle."""
