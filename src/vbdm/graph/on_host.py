"""Results that live on a device, copied into this machine's memory.

What is off the fast path (equations, dynamics, files, figures) has one way only, that of NumPy and
SciPy. It is entered with a copy: the same objects, whose arrays are NumPy's, whose matrices are
SciPy's, and for which an ordinary engine computes.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from ..base.arrays import frozen, is_elsewhere
from ..base.references import credit_of
from ..engines.choose import chosen_engine
from ..engines.engine import at_work, computes_elsewhere
from ..engines.sparse import is_csr_elsewhere
from ..search import KDTree
from .point_set import PointSet, tree_index, tree_of

#: A dataclass.
Result = TypeVar("Result")
#: Where a result keeps its copy.
KEPT = "_on_host"
#: What was moved so far, by identity: the thing itself, so that it lives on, and its copy.
Moved = dict[int, tuple[Any, Any]]


@at_work("results")
def in_memory(
    result: Result, n_points: int, known: tuple[str, ...] = (), left_out: str = ""
) -> Result:
    """Return a result (a dataclass) with all that it consists of in this machine's memory.

    It is copied once; itself, if nothing of it lives on a device. The engine is chosen by the
    number of points. Cached properties that are `known` already are taken over; the field
    `left_out` is None in the copy: what it holds is there in another one as well.
    """
    there = vars(result)
    if KEPT not in there:
        moved: Moved = {}
        if left_out and is_elsewhere(there[left_out]):
            moved[id(there[left_out])] = there[left_out], None
        fresh = copy_of_fields(result, n_points, moved)
        if fresh is result:
            return result
        for name in known:
            if name in there:
                vars(fresh)[name] = host_copy(there[name], n_points, moved)
        there[KEPT] = fresh
    return cast(Result, there[KEPT])


def state_in_memory(result: Any) -> dict[str, Any]:
    """Return what copies and pickles of a result keep: what it consists of, in memory."""
    return dict(vars(result.on_host))


def host_copy(value: Any, n_points: int, moved: Moved) -> Any:
    """Return what stands for a value in this machine's memory; itself, if it lives there."""
    if id(value) not in moved:
        moved[id(value)] = value, fresh_copy(value, n_points, moved)
    return moved[id(value)][1]


def fresh_copy(value: Any, n_points: int, moved: Moved) -> Any:
    """Return the copy of a value that was not met before."""
    if is_elsewhere(value):
        return value.get()
    if type(value) in (list, tuple):
        entries = [host_copy(entry, n_points, moved) for entry in value]
        same = all(new is old for new, old in zip(entries, value, strict=True))
        return value if same else type(value)(entries)
    if type(value) is dict:
        fresh = {key: host_copy(entry, n_points, moved) for key, entry in value.items()}
        return value if all(fresh[key] is entry for key, entry in value.items()) else fresh
    if isinstance(value, type):
        return value
    # Fields of a user's rule may have any name: what is ours is known by more than one.
    if isinstance(getattr(type(value), "on_host", None), property):
        return value.on_host
    if is_csr_elsewhere(value):
        return value.get()
    if computes_elsewhere(value):
        return chosen_engine("auto", n_points)[0]
    if isinstance(value, PointSet):
        return points_in_memory(value, n_points, moved)
    return copy_of_fields(value, n_points, moved) if is_dataclass(value) else value


def copy_of_fields(value: Any, n_points: int, moved: Moved) -> Any:
    """Return a dataclass with its fields in this machine's memory; itself, if all are there."""
    own = {field.name: getattr(value, field.name) for field in fields(value)}
    fresh = {name: host_copy(entry, n_points, moved) for name, entry in own.items()}
    if all(fresh[name] is entry for name, entry in own.items()):
        return value
    result = object.__new__(type(value))
    vars(result).update(fresh)
    return result


def points_in_memory(points: PointSet, n_points: int, moved: Moved) -> PointSet:
    """Return points in this machine's memory, with the tree and index of an ordinary engine."""
    engine, reason = chosen_engine("auto", n_points)
    if not computes_elsewhere(points.engine):
        return points
    order, distance, coordinates = (
        host_copy(part, n_points, moved)
        for part in (points.order, points.distance, points.coordinates)
    )
    found = replace(points, order=order, distance=distance, engine=engine, engine_reason=reason)
    if coordinates is None:
        return found
    found = replace(found, coordinates=frozen(coordinates))
    if points.tree is None:
        return replace(found, index=host_copy(points.index, n_points, moved))
    tree = tree_of(coordinates, distance)
    own = None if tree is None else engine.nearest(tree)
    # A k-d tree serves lists of any length.
    index = tree_index(distance.engine(), coordinates, 1, own)
    return replace(found, tree=tree, index=index, search=credit_of(own or KDTree(), "search"))
