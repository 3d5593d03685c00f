"""The multilevel solver: LOBPCG with coarse levels from cells of points."""
