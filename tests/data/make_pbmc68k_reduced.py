"""Make pbmc68k_reduced.npz: principal components and types of 700 blood cells, for the tests.

The cells are those of ``scanpy.datasets.pbmc68k_reduced()``, a file that is part of scanpy (BSD
licence), drawn from "Fresh 68k PBMCs (Donor A)" of 10x Genomics (CC BY 4.0; Zheng et al., Nature
Communications 8, 14049, 2017). Run it where scanpy is installed, ``pip install scanpy``.
"""

from pathlib import Path

import numpy as np
import scanpy

cells = scanpy.datasets.pbmc68k_reduced()
names, types = np.unique(cells.obs["bulk_labels"].astype(str), return_inverse=True)
np.savez_compressed(
    Path(__file__).with_name("pbmc68k_reduced.npz"),
    X_pca=cells.obsm["X_pca"].astype(np.float32),
    cell_type=types.astype(np.uint8),
    names=names.astype(str),
)
