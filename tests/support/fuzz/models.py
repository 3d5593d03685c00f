"""Saved models with one wrong value: how they are made, changed, and used."""

import copy
import json
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from tests.support.archives import as_array, as_bytes, members_of, write_members
from tests.support.saved_models import CLOUD, CURVE, MODELS

import vbdm
from vbdm.io.saved.archive import HEADER
from vbdm.operator.normalise import with_epsilon
from vbdm.operator.sums import pairs_of, quantiles

from .trial import OK, OTHER, REFUSED, attempt

#: Those that are tried every time.
FEW = ("plain", "lists", "copies", "left", "pieces", "periodic", "estimator", "reach again")
NEW = CLOUD[:5] + 0.01


def far_groups():
    return vbdm.estimate_operator(np.r_[CLOUD, CLOUD[:40] + 100.0]).spectrum(4)


def given_distances():
    graph = vbdm.neighbors(CLOUD, 40)
    return vbdm.estimate_operator(
        vbdm.NeighborGraph.from_arrays(np.array(graph.indices), np.array(graph.sqdist))
    ).spectrum(3)


#: What is saved, with the options of `save`.
SAVED = {
    **{name: (make, {}) for name, make in MODELS.items()},
    "pieces": (far_groups, {}),
    "distances": (given_distances, {}),
    "series": (lambda: vbdm.estimate_operator(CLOUD, lengths=[50, 30]).spectrum(3), {}),
    "operator": (lambda: vbdm.estimate_operator(CLOUD), {}),
    "graph": (lambda: vbdm.neighbors(CLOUD, 20), {}),
    "estimator": (lambda: vbdm.DiffusionMap(n_components=2).fit(CLOUD), {}),
    "reduced": (lambda: vbdm.DiffusionMap(n_components=2, pca=2).fit(CURVE), {}),
    "reach again": (MODELS["double"], {"kernel": False}),
    "lists again": (MODELS["lists"], {"kernel": False}),
    "released again": (MODELS["released"], {"kernel": False}),
}


def save_models(folder: Path, names=tuple(SAVED)) -> dict[str, Path]:
    """Write models into a folder; return their files by name."""
    files = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            make, options = SAVED[name]
            files[name] = folder / f"{name}.vbdm"
            vbdm.save(make(), files[name], **options)
    return files


# --- Changes --------------------------------------------------------------------------------------

NUMBERS = [0, -1, 1, 2, 1e-300, 1e9, 1e300, np.nan, np.inf, -np.inf, 2**31 - 1, -(2**31)]
WHERE = {"first": 0, "last": -1, "all": slice(None)}


def changed_arrays(array: np.ndarray) -> dict[str, np.ndarray]:
    """Return other arrays in place of one, by what is wrong with them."""
    found = {
        "shorter": array[:-1], "longer": np.concatenate([array, array[-1:]]), "none": array[:0],
        "backwards": array[::-1], "sorted": np.sort(array, axis=None).reshape(array.shape),
        "shuffled": np.random.default_rng(4100).permutation(array.ravel()).reshape(array.shape),
        "deeper": array[..., None], "flat": array.ravel(), "by columns": np.asfortranarray(array),
        "big-endian": array.astype(array.dtype.newbyteorder(">")), "text": array.astype("U9"),
        "turned": array.T, "halved": array.reshape(-1)[: array.size // 2],
    }  # fmt: skip
    with np.errstate(all="ignore"):
        for kind in ("f4", "f8", "i4", "i8", "c16", "b1", "u8"):
            found[f"as {kind}"] = array.real.astype(kind)
        found["twice"], found["negative"] = array.astype(array.dtype) * 2, -1.0 * array
        for number in NUMBERS:
            for where, place in WHERE.items():
                other = array.copy()
                if array.size:
                    other.reshape(-1)[place] = np.asarray(number).astype(array.dtype)
                found[f"{where} {number}"] = other
    return {name: other.astype(array.dtype) if name in ("twice", "negative") else other
            for name, other in found.items()}  # fmt: skip


WORDS = [
    None, True, False, 0, -1, 1, 2, 1.5, 0.0, 1e-300, 1e9, 10**9, 2**31 - 1, 10**30, 1e308, -1e308,
    float("nan"), float("inf"), "nan", "inf", "-inf", "", "word", "\x1b[2J\0", [], [0], {},
    {"x": 1}, "x" * 10**6, [[]] * 10**4,
]  # fmt: skip
#: More changes of a text: the key is left out, gets a sister, is doubled, halved.
MOVES = ("missing", "extra", "doubled", "halved", "renamed")


def places(text, place=()) -> Iterator[tuple]:
    """Yield the way to every value of a JSON text: a tuple of keys and of numbers in lists."""
    items = text.items() if isinstance(text, dict) else enumerate(text)
    for key, value in items:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))


def changed_text(text, place, change):
    """Return the text with one change; None if it makes no sense here."""
    result = copy.deepcopy(text)
    part = result
    for key in place[:-1]:
        part = part[key]
    key, old = place[-1], part[place[-1]]
    is_number = isinstance(old, int | float) and not isinstance(old, bool)
    if isinstance(change, int):
        part[key] = WORDS[change]
    elif change == "missing":
        del part[key]
    elif change == "extra" and isinstance(part, dict):
        part["extra"] = 1
    elif change == "extra":
        part.append(old)
    elif change in ("doubled", "halved") and is_number:
        part[key] = type(old)(old * 2 if change == "doubled" else old / 2)
    elif change == "renamed" and isinstance(part, dict):
        part[f"{key} "] = part.pop(key)
    else:
        return None
    return result


def all_cases(files: dict[str, Path]) -> list[tuple]:
    """Return every case: file, what is changed, where, and how."""
    cases, changes = [], list(changed_arrays(np.ones(2)))
    for file in map(str, files.values()):
        members = members_of(file)
        for name in members:
            if name != HEADER:
                cases += [(file, "array", name, change) for change in changes]
        for place in places(json.loads(members[HEADER])):
            cases += [(file, "text", place, change) for change in (*range(len(WORDS)), *MOVES)]
        cases += [(file, "bytes", seed, "") for seed in range(40)]
    return cases


def tampered(case) -> Path | None:
    """Write the file of a case; None if there is nothing to change."""
    file, kind, place, change = case
    path = Path(workshop(), "model.vbdm")
    if kind == "nothing":
        return Path(file)
    if kind == "bytes":
        content, rng = bytearray(Path(file).read_bytes()), np.random.default_rng(place)
        start = int(rng.integers(len(content)))
        piece = content[start : start + int(rng.choice([1, 4, 100]))]
        content[start : start + len(piece)] = rng.bytes(len(piece))
        path.write_bytes(content[:start] if place % 8 == 0 else content)
        return path
    members = dict(contents(file))
    if kind == "array":
        members[place] = as_bytes(changed_arrays(as_array(members[place]))[change])
    else:
        text = changed_text(json.loads(members[HEADER]), place, change)
        if text is None:
            return None
        members[HEADER] = json.dumps(text)
    write_members(path, members)
    return path


@cache
def workshop() -> str:
    """Return a folder for the files of this process."""
    return tempfile.mkdtemp(prefix="vbdm-fuzz-")


@cache
def contents(file):
    """Return the entries of a file."""
    return members_of(file)


# --- Use ------------------------------------------------------------------------------------------


def uses(model) -> dict:
    """Return all that one does with a model, as calls that return numbers."""
    spectrum = getattr(model, "spectrum_", model)
    operator = getattr(spectrum, "operator", spectrum)
    graph = getattr(operator, "graph", operator)
    found = {"repr": lambda: len(repr(model)), "again": lambda: saved_again(model)}
    found["lists"] = lambda: (graph.indices, graph.sqdist)
    if isinstance(operator, vbdm.Operator):
        found |= operator_uses(operator)
    if isinstance(spectrum, vbdm.Spectrum):
        found |= spectrum_uses(spectrum)
    if isinstance(model, vbdm.DiffusionMap):
        new = CURVE[:5] if model.n_features_in_ > 2 else NEW
        # Points outside are NaN, with a warning.
        found["transform"] = lambda: np.nan_to_num(model.transform(new))
        found["names"] = lambda: len(model.get_feature_names_out())
    return found


def new_points(graph):
    """Return points near those of a model, or what a refusal is due for."""
    return NEW if graph.points is None else np.asarray(graph.points)[:5] * 1.001


def told(extension):
    """Return the values of an extension; where it says why there is none, 0."""
    flagged = extension.undefined | extension.outside[:, None]
    return np.where(flagged.reshape(extension.values.shape), 0, extension.values)


def operator_uses(op) -> dict:
    f = np.cos(np.arange(op.n_points))
    new = new_points(op.graph)
    return {
        "apply": lambda: op @ f,
        "solve": lambda: op.spectrum(2).eigenvalues,
        "extend f": lambda: np.nan_to_num(op.extend(f, new)),
        "density": lambda: (op.density, op.density_at(new)),
        "widths": lambda: (op.widths, quantiles(op.widths), quantiles(pairs_of(op))),
        "matrix": lambda: op.matrix.sum(),
        "another": lambda: with_epsilon(op, op.epsilon * 1.1).inside.pilot.density,
        "reprs": lambda: len(f"{op!r}{op.graph!r}{op.settings!r}{op.tuning!r}{op.kernel!r}"),
    }


def spectrum_uses(spectrum) -> dict:
    return {
        "eigenvalues": lambda: (spectrum.eigenvalues, spectrum.timescales),
        "extend": lambda: told(spectrum.extend(new_points(spectrum.operator.graph))),
        "errors": lambda: (spectrum.standard_errors, spectrum.total_errors, spectrum.errors.bias),
        "intervals": lambda: spectrum.intervals(),
        # Of a mode that is not isolated nothing is known: NaN says so here, and in the error.
        "at points": lambda: np.where(
            np.isnan(spectrum.errors.functions[1]), 0, spectrum.errors.pointwise(1)
        ),
        "groups": lambda: len(repr(spectrum.errors.groups)),
        "lights": lambda: len(repr(vbdm.diagnose(spectrum))),
        "verify": lambda: len(repr(vbdm.verify(spectrum))),
    }


def saved_again(model):
    """Return the numbers of a model that was saved and read again."""
    path = Path(workshop(), "again.vbdm")
    vbdm.save(model, path)
    again = vbdm.load(path)
    again = getattr(again, "spectrum_", again)
    return again.eigenvalues if isinstance(again, vbdm.Spectrum) else again.n_neighbors


def used(model) -> dict:
    """Return outcome, numbers and warnings of every use."""
    return {name: attempt(call) for name, call in uses(model).items()}


@cache
def expected(file):
    """Return how the model answers while nothing is wrong with it."""
    return used(vbdm.load(file))


def numbers_in(result):
    """Return all numbers of a result in one array."""
    if result is None:
        return np.empty(0)
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(p, dtype=complex)) for p in parts])


def judge(case) -> str:
    """Return the outcome of a case: of loading the file, and of all uses if it is loaded."""
    path = tampered(case)
    if path is None:
        return OK
    outcome, model = attempt(lambda: vbdm.load(path))
    if outcome != OK:
        return outcome
    worst = OK
    for name, (outcome, result) in used(model).items():
        before, truth = expected(case[0]).get(name, (REFUSED, None))
        # Whoever forges numbers with their checksum gets what they make, but no harm.
        if outcome.startswith("raw") and case[1] == "nothing":
            return f"{name}: {outcome}"
        now, then = numbers_in(result), numbers_in(truth)
        same = now.shape == then.shape and np.allclose(now, then, equal_nan=True)
        worst = worst if outcome == before and same else OTHER
    return worst
