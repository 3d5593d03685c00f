"""Readers of files: one short module for each format, and what turns a table into points."""
