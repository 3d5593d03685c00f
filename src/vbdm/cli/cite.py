"""``vbdm cite``: what to cite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import Command, setting

if TYPE_CHECKING:
    from ..spectrum.spectrum import Spectrum

EXAMPLES = """\b
Examples:
  vbdm cite                                 the paper and this package, as BibTeX
  vbdm cite points-vbdm >> references.bib   whatever was used for these results
  vbdm cite points-vbdm --methods           a methods paragraph, to be pasted into a paper
"""


@click.command("cite", cls=Command, epilog=EXAMPLES)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@setting("--text", is_flag=True, help="Plain text instead of BibTeX.")
@setting("--methods", is_flag=True, help="A paragraph on what was done for the results in FOLDER.")
def command(folder: Path | None, text: bool, methods: bool) -> None:
    """Say what to cite: for vbdm, or for what was used in the results in FOLDER."""
    from ..report.citing import citations
    from .models import load_spectrum

    if methods and folder is None:
        raise click.UsageError("--methods describes results: name their folder.")
    spectrum = None if folder is None else load_spectrum(folder)
    if methods and spectrum is not None and folder is not None:
        click.echo(paragraph(folder, spectrum))
        return
    for citation in citations(spectrum):
        click.echo(citation.text if text else citation.bibtex)


def paragraph(folder: Path, spectrum: Spectrum) -> str:
    """Return the methods paragraph; only a results folder knows of the file and its preparation."""
    from ..report.citing import methods_paragraph
    from ..results import read_summary

    if not folder.is_dir():
        return methods_paragraph(spectrum)
    summary = read_summary(folder)
    return methods_paragraph(
        spectrum, n_read=summary["input"].get("n_read"), preparation=summary["preparation"]
    )
