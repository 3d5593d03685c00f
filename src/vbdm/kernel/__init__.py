"""The kernel room: K on the pairs."""
