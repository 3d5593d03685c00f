"""Files of an older version: their text, as the present version would say it."""

from __future__ import annotations

from typing import Any


def upgraded(head: dict[str, Any]) -> dict[str, Any]:
    """Return the text of version 2 with the names of version 3.

    The search engine was called the engine, points whose distances are added up by columns had no
    tree to keep them in, and all kernels were those of lists, in double precision.
    """
    graph = head["graph"]
    found = {
        "search": graph["engine"], "search_reason": graph["engine_reason"],
        "tree": graph["by_columns"] if graph["metric"] == "euclidean" else False,
    }  # fmt: skip
    result = {**head, "graph": {**graph, **found}}
    if "kernel" in head:
        result["kernel"] = {**head["kernel"], "by_reach": False, "precision": "double"}
    return result
