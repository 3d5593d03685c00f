"""What every room uses: checks, errors, threads, progress, memory, words."""
