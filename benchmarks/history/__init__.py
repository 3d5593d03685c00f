"""What `asv` measures at every commit: see `make bench-history`."""
