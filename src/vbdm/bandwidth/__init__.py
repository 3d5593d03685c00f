"""The bandwidth room: pilot density, dimension, and the rules for ε."""
