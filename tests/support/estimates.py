"""Estimates and models by the plain names of their parameters, whichever object these belong to."""

from typing import Any

import vbdm
from vbdm.operator.arguments import gather


def estimate_with(X: Any, operator: Any = None, **parameters: Any) -> Any:
    """Return an operator; parameters of the method and of the run stand beside the others."""
    return vbdm.estimate_operator(X, operator, **gather(parameters))


def model_with(operator: Any = "laplacian", n_components: int = 2, **parameters: Any) -> Any:
    """Return a `DiffusionMap`, in the same way."""
    return vbdm.DiffusionMap(operator, n_components, **gather(parameters))
