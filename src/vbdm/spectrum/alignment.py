"""Compare eigenfunctions with a known truth: every basis of an eigenspace is equally right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq, svd

from ..base.arrays import FloatArray
from ..base.checks import as_floats, check_choice
from ..base.points import check_finite
from ..errors import InputError


def align(eigenfunctions: ArrayLike, truth: ArrayLike, kind: str = "linear") -> FloatArray:
    r"""Map estimated eigenfunctions onto the truth by the best linear (or orthogonal) map.

    The eigenfunctions of a repeated eigenvalue are fixed only up to a change of basis, those of a
    simple one up to sign. The paper removes this freedom before it compares (Sections 3 and 5).

    Parameters
    ----------
    eigenfunctions : (N, m) or (N,) array
        Estimates φ of the eigenfunctions of one eigenspace, by columns.
    truth : (N, m) or (N,) array
        The true eigenfunctions at the same points.
    kind : {"linear", "orthogonal"}
        "linear": the matrix B of least squares, truth ≈ φ B. "orthogonal": B restricted to
        rotations and reflections (Procrustes); right only where eigenfunctions are orthogonal in
        L²(q), which means c1 = 1.

    Returns
    -------
    (N, m) or (N,) array
        φ B, to be compared with the truth.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> truth = np.c_[np.cos(x), np.sin(x)]
    >>> turned = np.c_[np.cos(x + 1), np.sin(x + 1)]
    >>> bool(np.allclose(vbdm.align(turned, truth, kind="orthogonal"), truth))
    True
    """
    check_choice(kind, "kind", ("linear", "orthogonal"))
    phi, exact = as_floats(eigenfunctions), as_floats(truth)
    usable = phi is not None and exact is not None and {phi.ndim, exact.ndim} <= {1, 2}
    if phi is None or exact is None or not usable or len(phi) != len(exact):
        shapes = ["of no numbers" if one is None else str(one.shape) for one in (phi, exact)]
        raise InputError(
            "The estimate and the truth must be given at the same points; received shapes "
            f"{' and '.join(shapes)}. Pass arrays of shape (n_points, n_functions)."
        )
    check_finite(phi, "eigenfunctions")
    check_finite(exact, "truth")
    basis, target = phi.reshape(len(phi), -1), exact.reshape(len(exact), -1)
    if kind == "orthogonal":
        if basis.shape != target.shape:
            raise InputError(
                "An orthogonal map needs as many estimated as true functions; received "
                f"{basis.shape[1]} and {target.shape[1]}. Pass as many, or kind='linear'."
            )
        left, _, right = svd(basis.T @ target)
        matrix = left @ right
    else:
        matrix = lstsq(basis, target)[0]
    return np.asarray((basis @ matrix).reshape(exact.shape))
