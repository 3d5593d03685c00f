"""Errors as CuPy raises them."""


def error_of_cupy(name, text, base=RuntimeError):
    """An error as CuPy raises it: what is known of it are its module, its name and its text."""
    return type(name, (base,), {"__module__": "cupy_backends.cuda.api.runtime"})(text)
