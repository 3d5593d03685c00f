"""Files of an older version: their text, as the present version would say it."""

from __future__ import annotations

from typing import Any

#: Who computed everything: there was no other engine.
SCIPY = {"name": "scipy", "words": "NumPy and SciPy", "references": []}


def upgraded(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of an older version with the names of the present one."""
    return from_version_3(from_version_2(head) if head["version"] == 2 else head)


def from_version_3(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of version 3 as version 4 has it: pilots were sums over lists."""
    if head["kind"] == "graph":
        return head
    return {**head, "pilot": {**head["pilot"], "cutoff": "inf"}}


def from_version_2(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of version 2 as version 3 has it.

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
