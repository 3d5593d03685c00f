"""The spectrum room: eigenvalues and eigenfunctions."""
