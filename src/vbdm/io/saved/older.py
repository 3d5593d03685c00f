"""Files of an older version: their text, as the present version would say it."""

from __future__ import annotations

from typing import Any

#: Who computed everything: there was no other engine.
SCIPY = {"name": "scipy", "words": "NumPy and SciPy", "references": []}


def upgraded(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of version 2 or 3 as version 4 says it."""
    return as_version_4(head if head["version"] == 3 else as_version_3(head))


def as_version_4(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of version 3 as version 4 says it.

    Pilot densities were sums over lists, and all modes shared one limit.
    """
    if head["kind"] == "graph":
        return head
    result = {**head, "pilot": {**head["pilot"], "cutoff": "inf"}}
    if "spectrum" in head:
        limit, limiter = head["spectrum"]["limit"], head["settings"]["method"]["limiter"]
        shared = None if limit is None else {**limit, "kappa": limiter["kappa"]}
        result["spectrum"] = {**head["spectrum"], "limit": shared, "limits": None}
        result["solve"] = {**head["solve"], "shared_eigenvalues": None}
    return result


def as_version_3(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of version 2 as version 3 says it.

    Who searched was called the engine, and SciPy computed. Points whose distances are added up by
    columns had no tree to keep them in. All kernels were those of lists, in double precision.
    """
    graph = head["graph"]
    found = {
        "search": graph["engine"], "search_reason": graph["engine_reason"],
        "tree": graph["by_columns"] if graph["metric"] == "euclidean" else False,
    }  # fmt: skip
    result = {**head, "graph": {**graph, **found}}
    if head["kind"] != "graph":
        result["kernel"] = {**head["kernel"], "by_reach": False, "precision": "double"}
        computed = {"engine": SCIPY, "engine_reason": "", "precision": "double"}
        result["settings"] = {**head["settings"], **computed}
    return result
