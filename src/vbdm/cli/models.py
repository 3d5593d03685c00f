"""Models that a user names on the command line: a results folder, or a saved file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from ..spectrum.spectrum import Spectrum


def model_file(place: Path) -> Path:
    """Return the file of a model: inside a results folder, or the path itself."""
    from ..results import read_summary

    if place.is_dir() or not place.exists():
        # Raises, and says what is wrong, if this is not a folder of results.
        read_summary(place)
        return place / "model.vbdm"
    return place


def load_spectrum(place: Path) -> Spectrum:
    """Read a spectrum, from a results folder or from a file."""
    from ..io.saved.persistence import load
    from ..spectrum.spectrum import Spectrum

    found: Any = load(model_file(place))
    found = getattr(found, "spectrum_", found)
    if isinstance(found, Spectrum):
        return found
    raise InputError(
        f"The file holds no eigenfunctions; received {str(place)!r} with a "
        f"{type(found).__name__}. Pass a results folder, or a file that "
        "vbdm.save(op.spectrum(10), path) wrote."
    )


def load_notes(place: Path) -> dict[str, Any]:
    """Return how the training file was read and prepared; empty for a model without a folder."""
    from ..io.saved.persistence import read_notes

    return read_notes(model_file(place))


def is_model(place: Path) -> bool:
    """Tell whether this is a results folder or a saved model."""
    try:
        load_notes(place)
    except (InputError, OSError):
        return False
    return True


def refuse_swapped(model: Path, file: Path) -> None:
    """Raise if model and data were given in the wrong order."""
    if is_model(file) and not is_model(model):
        raise InputError(
            f"The model comes first, then the file with new points; received {str(model)!r}, "
            f"which is no model, and {str(file)!r}, which is one. Write: vbdm transform {file} "
            f"{model}"
        )
