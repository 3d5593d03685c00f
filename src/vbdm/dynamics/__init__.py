"""What the eigenpairs say about time: evolution, correlations, a clock, metastable states."""
