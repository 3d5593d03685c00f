"""How sure: error bars, opinions on ε, checks, verification."""
