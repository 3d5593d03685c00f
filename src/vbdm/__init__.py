"""Learn differential operators from data, with variable bandwidth diffusion kernels.

One walk: points → graph → kernel → operator → spectrum → extension.

>>> import vbdm
>>> sample = vbdm.datasets.sphere(2000, random_state=0)
>>> op = vbdm.estimate_operator(sample.points, "laplacian")
>>> op.spectrum(4).eigenvalues.round(1).tolist()     # truth: 0, -2, -2, -2
[0.0, -2.0, -2.0, -2.0]
"""

import lazy_loader

from .base.versions import __version__ as __version__

# The public names are listed in `__init__.pyi`; each is loaded when it is first used.
__getattr__, _, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _names if not name.endswith(("Error", "Warning"))]


def __dir__() -> list[str]:
    """List the public names, not the modules that happen to be loaded."""
    return sorted([*__all__, "__version__"])
