"""Write a results folder."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import to_host
from ..base.checks import a_function, a_switch, accepts, an, or_none
from ..base.files import PathLike, plain
from ..dynamics.clock import Clock
from ..io.saved.archive import entry_named, little_endian
from ..io.saved.persistence import save
from ..io.saved.zarr_group import attributes_of, write_group
from ..progress import report
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import known_eigenfunctions
from ..trust.diagnose import diagnose
from ..trust.epsilon_scan import EpsilonScan
from .folder import ARRAYS, MODEL, PAGE, STORE, SUMMARY, check_folder, replacing_folder
from .reading import Results
from .summary import Origin, clock_entry, summarise


def can_draw() -> bool:
    """Tell whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw_figures(spectrum: Spectrum, folder: Path) -> None:
    """Draw the overview of a spectrum into a folder, as a PNG file.

    It holds all pictures, and drawing each of them once more took longer than a small estimate:
    ``vbdm plot FOLDER --what NAME`` draws them when they are wanted.
    """
    from .. import plot

    folder.mkdir()
    report("figures", 0, 1)
    save_picture(partial(plot.summary, spectrum), folder / "summary.png")
    report("figures", 1, 1)


def save_picture(
    draw: Callable[[], Any], target: Path | IO[bytes], kind: str = "png", dpi: int = 110
) -> None:
    """Draw a picture, write it to a file, and close the figure."""
    import matplotlib.pyplot as plt

    drawn = draw()
    # Some functions return a figure, some axes, some an array of axes.
    first = drawn.flat[0] if hasattr(drawn, "flat") else drawn
    figure = first if hasattr(first, "savefig") else first.figure
    # Without a date inside, equal results make equal files.
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    try:
        figure.savefig(target, format=kind, dpi=dpi, metadata=date)
    finally:
        plt.close(figure)


FIGURES = "figures"
#: Up to this many points the kernel is stored in the model, at 1,330 bytes a point. Beyond, it is
#: computed again when the model is loaded, and the model takes 180 bytes a point.
MOST_WITH_KERNEL = 20_000


@accepts(
    spectrum=an(Spectrum, "Pass op.spectrum(10)."),
    origin=or_none(an(Origin, "Make one: vbdm.results.Origin(...).")),
    force=a_switch,
    scan=or_none(an(EpsilonScan, "Call vbdm.scan_epsilon(spectrum).")),
    figures=a_switch,
    page=a_switch,
    title=an(str, "Pass a text."),
    seconds=or_none(an(Mapping, "Pass a dict.")),
    extras=or_none(a_function),
    clock=or_none(an(Clock, "Call spectrum.clock(step=0.2).")),
)
def write_results(
    folder: PathLike,
    spectrum: Spectrum,
    origin: Origin | None = None,
    *,
    force: bool = False,
    scan: EpsilonScan | None = None,
    figures: bool = True,
    page: bool = True,
    title: str = "",
    seconds: Mapping[str, float] | None = None,
    extras: Callable[[Path], None] | None = None,
    clock: Clock | None = None,
) -> Results:
    """Write everything about a spectrum into one folder.

    Parameters
    ----------
    folder : path
        A new or empty folder, or one with earlier results if `force` is set.
    spectrum : Spectrum
        The result of `op.spectrum(n)`, of a symmetric operator.
    origin : Origin, optional
        Where the points came from.
    force : bool
        Whether earlier results may be replaced. Files of your own in that folder are kept.
    scan : EpsilonScan, optional
        The result of `vbdm.scan_epsilon`, for the page's slider over ε.
    figures, page : bool
        Whether to draw the figures (if matplotlib is installed) and to write report.html.
    title : str
        Title of the page.
    seconds : mapping, optional
        Seconds by stage of the work. A mapping that is filled while this function runs may be
        passed: results.json is written last.
    extras : callable, optional
        Function that is called with the unfinished folder, to write more files into it.
    clock : Clock, optional
        The result of `spectrum.clock`, for times in your unit.

    Returns
    -------
    Results

    Notes
    -----
    The folder is built under another name beside its place (``.NAME.vbdm-….partial``), written to
    the disk, and renamed. Whatever happens before that, earlier results stay as they were.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> sample = vbdm.datasets.circle(300, sampling="random", random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(3)
    >>> place = pathlib.Path(tempfile.mkdtemp(), "circle")
    >>> results = write_results(place, spectrum, figures=False, page=False)
    >>> sorted(path.name for path in place.iterdir())
    ['model.vbdm', 'results.json', 'results.npz']
    >>> from vbdm.results import load_results
    >>> bool((load_results(place).eigenvalues == spectrum.eigenvalues).all())
    True
    """
    target = check_folder(folder, force)
    story = origin or Origin()
    findings = diagnose(spectrum, scan)
    with replacing_folder(target, force) as partial:
        if figures and can_draw():
            draw_figures(spectrum, partial / FIGURES)
        if page:
            write_report(
                partial / PAGE, spectrum, story, scan, title, seconds, findings=findings,
                clock=None if clock is None else clock_entry(clock),
            )  # fmt: skip
        report("saving", 0, 2)
        write_model(partial / MODEL, spectrum, story)
        report("saving", 1, 2)
        arrays = arrays_of(spectrum, story, scan)
        if spectrum.operator.graph.point_set.rows is None or find_spec("zarr") is None:
            write_arrays(partial / ARRAYS, {name: np.asarray(v) for name, v in arrays.items()})
        else:
            write_group(partial / STORE, arrays, attributes_of(spectrum))
        if extras is not None:
            extras(partial)
        report("saving", 2, 2)
        summary = summarise(spectrum, story, findings, seconds, files_in(partial), clock)
        text = json.dumps(summary, indent=1, allow_nan=False, ensure_ascii=False)
        (partial / SUMMARY).write_text(text + "\n", "utf-8")
    return Results(Path(folder), summary, arrays, spectrum)


def write_report(
    path: Path,
    spectrum: Spectrum,
    story: Origin,
    scan: EpsilonScan | None,
    title: str,
    seconds: Mapping[str, float] | None,
    **more: Any,
) -> None:
    """Write the page, and report the progress; `more` are further options of `write_page`."""
    from ..report import write_page

    report("page", 0, 1)
    write_page(
        path,
        spectrum,
        scan=scan,
        names=story.names,
        title=title,
        source={**(story.source or {}), "n_read": story.n_read},
        warnings=[text for _, text in story.warnings],
        seconds=dict(seconds or {}),
        preparation=story.preparation,
        rows=story.rows,
        settings=story.settings,
        about_rows=story.about_rows,
        unit=story.unit,
        **more,
    )
    report("page", 1, 1)


def write_model(path: Path, spectrum: Spectrum, story: Origin) -> None:
    """Save the model, with how its file was read and prepared, to treat new files alike."""
    operator = spectrum.operator
    notes = {"preparation": plain(story.preparation), "reading": plain(story.reading)}
    kernel = operator.n_points <= MOST_WITH_KERNEL or operator.graph.points is None
    save(spectrum, path, kernel=kernel, notes={k: v for k, v in notes.items() if v is not None})


def arrays_of(
    spectrum: Spectrum, story: Origin, scan: EpsilonScan | None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of results.npz, or results.zarr, by name."""
    op = spectrum.operator
    rows = np.arange(op.n_points) if story.rows is None else np.asarray(story.rows)
    arrays = {
        "eigenvalues": spectrum.eigenvalues,
        "total_errors": spectrum.total_errors,
        "intervals": spectrum.intervals(),
        "standard_errors": spectrum.standard_errors,
        "bias": spectrum.errors.bias,
        "residuals": spectrum.residuals,
        "eigenfunctions": to_host(known_eigenfunctions(spectrum)),
        "density": np.asarray(to_host(op.density)),
        "widths": op.widths,
        "unresolved": spectrum.unresolved,
        "weak_links": spectrum.errors.weak_links,
        "components": spectrum.components,
        "rows": rows,
        "epsilons": op.tuning.epsilons,
        "slopes": op.tuning.slopes,
    }
    if story.about_rows:
        arrays |= story.about_rows.as_arrays()
    return arrays if scan is None else arrays | scan.as_arrays()


def write_arrays(target: Path | IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz file without dates, so that equal results make equal files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(entry_named(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, little_endian(array), allow_pickle=False)


def files_in(folder: Path) -> list[str]:
    """Return the paths of all files in a folder, relative to it and sorted; a group is one."""
    files = (path for path in folder.rglob("*") if not path.is_dir())
    names = (path.relative_to(folder).as_posix() for path in files)
    return sorted({STORE if name.startswith(f"{STORE}/") else name for name in names})
