"""Cells: from and to AnnData objects, by the conventions of scanpy.

Each function takes an AnnData object first, reads its `obsm` and `obs`, and puts what it finds
there. It changes the object, or with ``copy=True`` returns a changed copy. What it sets is listed
at the end of its help. AnnData itself is never imported: anything with `obs`, `obsm`, `uns` and
`n_obs` will do.

===================  ===============================================================================
`diffmap`            eigenfunctions as coordinates, with eigenvalues and their errors
`fate_probabilities` which of some groups of cells is reached first, and how decided a cell is
`pseudotime`         how far cells are from a root, along the data
===================  ===============================================================================

The operator is the generator of diffusion in the density of the cells. It knows where cells are,
and no direction of time: fates are those of a walk that is drawn to dense regions, not those of
cells that divide, or that RNA velocities push. Estimate it once and pass it to each of the
functions:

>>> op = vbdm.estimate_operator(adata.obsm["X_pca"], "generator")      # doctest: +SKIP
>>> vbdm.single_cell.diffmap(adata, operator=op)                       # doctest: +SKIP
>>> vbdm.single_cell.fate_probabilities(adata, "cell_type", ["B", "NK"], operator=op)
... # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base.checks import a_count, a_switch, accepts, an, or_none, shown, words
from .errors import InputError
from .estimate import estimate_operator
from .io.anndata import USUAL_KEY, put_results
from .operator.operator import Operator

__all__ = ["diffmap", "fate_probabilities", "pseudotime"]

OPERATOR = or_none(an(Operator, "Pass what `estimate_operator` returned for these cells."))
MOST_CELLS = 2**31 - 1
NAME = an(str, "Pass a name.")


@accepts(n_components=a_count(1, 1000), use_rep=NAME, key_added=NAME, operator=OPERATOR,
         copy=a_switch)  # fmt: skip
def diffmap(
    adata: Any,
    n_components: int = 15,
    *,
    use_rep: str = USUAL_KEY,
    operator: Operator | None = None,
    key_added: str = "vbdm",
    copy: bool = False,
) -> Any:
    """Put eigenfunctions of the generator into an AnnData object, as coordinates of the cells.

    Parameters
    ----------
    adata : AnnData
        The cells.
    n_components : int
        Number of coordinates. The constant eigenfunction is not among them.
    use_rep : str
        Name in `adata.obsm` of the coordinates that the operator is estimated from.
    operator : Operator, optional
        An operator of these cells. By default the generator is estimated.
    key_added : str
        Takes the place of "vbdm" in the names of what is set.
    copy : bool
        Whether to return a changed copy.

    Returns
    -------
    None, or a changed copy of `adata`. Sets these fields:

    ``adata.obsm["X_vbdm"]`` : (n_obs, n_components) array
        The eigenfunctions, of mean square 1; NaN in columns whose eigenvalue is not known.
    ``adata.obs["vbdm_density"]`` : (n_obs,) array
        The density of cells.
    ``adata.uns["vbdm"]`` : dict
        "eigenvalues" of the columns, their "total_errors", 95 % "intervals", "standard_errors", and
        "epsilon", "dim", "params".
    """
    cells = cells_of(adata, copy)
    op = operator_of(cells, operator, use_rep)
    spectrum = op.spectrum(n_components + 1)
    put_results(cells, spectrum, key=key_added, params={"use_rep": use_rep})
    return cells if copy else None


@accepts(groupby=NAME, use_rep=NAME, key_added=NAME, operator=OPERATOR, copy=a_switch)
def fate_probabilities(
    adata: Any,
    groupby: str,
    groups: Any,
    *,
    use_rep: str = USUAL_KEY,
    operator: Operator | None = None,
    key_added: str = "fate",
    copy: bool = False,
) -> Any:
    """Put the probabilities to reach each of some groups of cells first into an AnnData object.

    Parameters
    ----------
    adata : AnnData
        The cells.
    groupby : str
        Name in `adata.obs` of the labels of the cells, such as "cell_type".
    groups : list of str, or dict
        Labels of the terminal states, two or more. A dict has lists of labels by the names of
        terminal states, where several labels are one fate.
    use_rep, operator, copy : optional
        As in `diffmap`.
    key_added : str
        Takes the place of "fate" in the names of what is set.

    Returns
    -------
    None, or a changed copy of `adata`. Sets these fields:

    ``adata.obsm["X_fate"]`` : (n_obs, n_groups) array
        The probabilities; rows sum to 1. NaN at cells from which no terminal state is reached.
    ``adata.obs["vbdm_fate_priming"]`` : (n_obs,) array
        How decided a cell is: 1 minus the entropy of its row over the largest possible one, so that
        0 is undecided and 1 decided.
    ``adata.uns["vbdm"]["fate"]`` : dict
        "names" of the columns, and "groupby".

    Notes
    -----
    One multigrid solve for all groups (`Equations.hitting_probabilities`); a cell of a terminal
    state has probability 1 there. A group with fewer cells than a kernel holds is not found by a
    walk: its piece of the data gets NaN, with a `SmallSetWarning`.
    """
    cells = cells_of(adata, copy)
    labels = column_of(cells.obs, groupby, "groupby", "obs")
    sets = {str(k): words(v, "groups") for k, v in groups.items()} if isinstance(
        groups, Mapping) else {one: [one] for one in words(groups, "groups")}  # fmt: skip
    op = operator_of(cells, operator, use_rep)
    named = {name: np.array(own, dtype=object) for name, own in sets.items()}
    found = op.equations.hitting_probabilities(named, labels=labels)
    cells.obsm[f"X_{key_added}"] = np.array(found.values)
    cells.obs[f"vbdm_{key_added}_priming"] = 1 - found.entropy
    about = {"names": np.array(found.names), "groupby": groupby}
    cells.uns["vbdm"] = {**cells.uns.get("vbdm", {}), key_added: about}
    return cells if copy else None


@accepts(root=or_none(a_count(0, MOST_CELLS)), n_components=a_count(1, 1000), use_rep=NAME,
         key_added=NAME, operator=OPERATOR, copy=a_switch)  # fmt: skip
def pseudotime(
    adata: Any,
    *,
    root: int | None = None,
    n_components: int = 15,
    use_rep: str = USUAL_KEY,
    operator: Operator | None = None,
    key_added: str = "vbdm_pseudotime",
    copy: bool = False,
) -> Any:
    """Put the diffusion pseudotime from a root into an AnnData object.

    Parameters
    ----------
    adata : AnnData
        The cells.
    root : int, optional
        Number of the cell where time begins. By default ``adata.uns["iroot"]``, as in scanpy.
    n_components : int
        Number of eigenfunctions in the sum.
    use_rep, operator, copy : optional
        As in `diffmap`.
    key_added : str
        Name of what is set.

    Returns
    -------
    None, or a changed copy of `adata`. Sets these fields:

    ``adata.obs["vbdm_pseudotime"]`` : (n_obs,) array
        0 at the root and 1 at the farthest cell; NaN on other pieces of the data than the root's,
        where scanpy has infinity.

    Warns
    -----
    RootWarning
        If the root is no end of the slowest mode (see `Dynamics.pseudotime`).
    """
    cells = cells_of(adata, copy)
    place: Any = root
    if root is None:
        if "iroot" not in cells.uns:
            raise InputError(
                "There is no root; received no `root`, and no 'iroot' in `adata.uns`. Set "
                "adata.uns['iroot'] to the number of an early cell, or pass `root`."
            )
        place = a_count(0, MOST_CELLS)(cells.uns["iroot"], "adata.uns['iroot']")
    op = operator_of(cells, operator, use_rep)
    cells.obs[key_added] = np.array(op.spectrum(n_components + 1).dynamics.pseudotime(place))
    return cells if copy else None


def cells_of(adata: Any, copy: bool) -> Any:
    """Return the object to be changed; refuse what is no AnnData."""
    if isinstance(adata, type) or not all(
        hasattr(adata, part) for part in ("obs", "obsm", "uns", "n_obs", "copy")
    ):
        raise InputError(
            f"`adata` must be an AnnData object; received {shown(adata)}. Read a file with "
            "`anndata.read_h5ad`, or pass arrays to `estimate_operator`."
        )
    return adata.copy() if copy else adata


def operator_of(cells: Any, operator: Operator | None, use_rep: str) -> Operator:
    """Return the given operator, if it is one of these cells, or the generator."""
    if operator is None:
        points = column_of(cells.obsm, use_rep, "use_rep", "obsm")
        return estimate_operator(points, "generator")
    if operator.n_points != cells.n_obs:
        raise InputError(
            "The operator is not that of these cells; received an operator of "
            f"{operator.n_points} points, {cells.n_obs} cells. Estimate it from this very object."
        )
    return operator


def column_of(part: Any, name: str, argument: str, where: str) -> NDArray[Any]:
    """Return an entry of `obs` or `obsm` as an array."""
    if name not in part:
        known = ", ".join(repr(str(key)) for key in list(part)[:8]) or "empty"
        raise InputError(
            f"`{argument}` is no name in `adata.{where}`; received {shown(name)}. There are: "
            f"{known}. Mind spelling and upper case."
        )
    return np.asarray(part[name])
