r"""From a file to points: `read` finds the numbers, `prepare` makes the cloud.

A file becomes a `Table`: rows are points, columns have names. A table becomes a `Cloud`, the points
that an estimate takes, together with a `Preparation`, which does the same to other files later.

>>> import tempfile, os
>>> folder = tempfile.TemporaryDirectory()
>>> path = os.path.join(folder.name, "walk.csv")
>>> with open(path, "w") as stream:
...     _ = stream.write("time,x,y\n0,1.5,2\n1,1.7,3\n2,1.6,5\n")
>>> table = vbdm.io.read(path, columns="x,y")
>>> table.names, table.source.format
(('x', 'y'), 'text')
>>> cloud, preparation = vbdm.io.prepare(table, delays=2)
>>> cloud.names
('x', 'y', 'x@-1', 'y@-1')
>>> cloud.points.tolist()
[[1.7, 3.0, 1.5, 2.0], [1.6, 5.0, 1.7, 3.0]]

Formats other than NumPy's and text need a library, which is imported when such a file is read;
`formats` tells which are installed. A new format is a function ``read(path, options) -> Table``
and a line in `vbdm.io.reading`.
"""

from ..base.row_notes import Labels, RowNotes
from .anndata import write_anndata
from .preparation import Cloud, Preparation
from .prepare import prepare
from .reading import Format, formats, read
from .source import Source
from .table import Table

__all__ = [
    "Cloud",
    "Format",
    "Labels",
    "Preparation",
    "RowNotes",
    "Source",
    "Table",
    "formats",
    "prepare",
    "read",
    "write_anndata",
]
