"""The extension room: everything at new points."""
