"""Verbs of a spectrum: methods of `Spectrum` that hand it to later rooms when they are called."""
