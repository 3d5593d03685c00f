"""Saved models: one file, no pickle."""
