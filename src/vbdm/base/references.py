"""The works that a result may rest on, and what a solver, an engine or a rule says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Citation:
    """One work to cite: key and entry for BibTeX, and the reference as one line of text."""

    key: str
    bibtex: str
    text: str


@dataclass(frozen=True)
class Credit:
    """Name, words and references of a solver, a search, an engine or a rule.

    The words are a noun phrase for a sentence: "a multilevel LOBPCG iteration (Knyazev 2001)".
    """

    name: str
    words: str
    references: tuple[Citation, ...] = ()


def credit_of(strategy: Any, kind: str) -> Credit:
    """Return the credit that a strategy carries, or one with its class's name if it has none.

    Examples
    --------
    >>> credit_of(object(), "solver").words
    'the solver object'
    """
    found = getattr(strategy, "credit", None)
    if isinstance(found, Credit):
        return found
    name = type(strategy).__name__
    return Credit(name, f"the {kind} {name}")


PAPER = Citation(
    "BerryHarlim2016",
    """@article{BerryHarlim2016,
  author  = {Berry, Tyrus and Harlim, John},
  title   = {Variable bandwidth diffusion kernels},
  journal = {Applied and Computational Harmonic Analysis},
  volume  = {40},
  number  = {1},
  pages   = {68--96},
  year    = {2016},
  doi     = {10.1016/j.acha.2015.01.001}
}""",
    "T. Berry and J. Harlim. Variable bandwidth diffusion kernels. Applied and Computational "
    "Harmonic Analysis 40(1), 68–96, 2016. doi:10.1016/j.acha.2015.01.001",
)
DIFFUSION_MAPS = Citation(
    "CoifmanLafon2006",
    """@article{CoifmanLafon2006,
  author  = {Coifman, Ronald R. and Lafon, St{\\'e}phane},
  title   = {Diffusion maps},
  journal = {Applied and Computational Harmonic Analysis},
  volume  = {21},
  number  = {1},
  pages   = {5--30},
  year    = {2006},
  doi     = {10.1016/j.acha.2006.04.006}
}""",
    "R. R. Coifman and S. Lafon. Diffusion maps. Applied and Computational Harmonic Analysis "
    "21(1), 5–30, 2006. doi:10.1016/j.acha.2006.04.006",
)
LOBPCG = Citation(
    "Knyazev2001",
    """@article{Knyazev2001,
  author  = {Knyazev, Andrew V.},
  title   = {Toward the optimal preconditioned eigensolver: Locally optimal block preconditioned
             conjugate gradient method},
  journal = {SIAM Journal on Scientific Computing},
  volume  = {23},
  number  = {2},
  pages   = {517--541},
  year    = {2001},
  doi     = {10.1137/S1064827500366124}
}""",
    "A. V. Knyazev. Toward the optimal preconditioned eigensolver: Locally optimal block "
    "preconditioned conjugate gradient method. SIAM Journal on Scientific Computing 23(2), "
    "517–541, 2001. doi:10.1137/S1064827500366124",
)
ARPACK = Citation(
    "LehoucqSorensenYang1998",
    """@book{LehoucqSorensenYang1998,
  author    = {Lehoucq, Richard B. and Sorensen, Danny C. and Yang, Chao},
  title     = {{ARPACK} Users' Guide: Solution of Large-Scale Eigenvalue Problems with
               Implicitly Restarted {Arnoldi} Methods},
  publisher = {SIAM},
  year      = {1998},
  doi       = {10.1137/1.9780898719628}
}""",
    "R. B. Lehoucq, D. C. Sorensen and C. Yang. ARPACK Users' Guide: Solution of Large-Scale "
    "Eigenvalue Problems with Implicitly Restarted Arnoldi Methods. SIAM, 1998. "
    "doi:10.1137/1.9780898719628",
)
DIMENSION = Citation(
    "LevinaBickel2004",
    """@inproceedings{LevinaBickel2004,
  author    = {Levina, Elizaveta and Bickel, Peter J.},
  title     = {Maximum likelihood estimation of intrinsic dimension},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {17},
  year      = {2004}
}""",
    "E. Levina and P. J. Bickel. Maximum likelihood estimation of intrinsic dimension. Advances "
    "in Neural Information Processing Systems 17, 2004.",
)
DESCENT = Citation(
    "DongCharikarLi2011",
    """@inproceedings{DongCharikarLi2011,
  author    = {Dong, Wei and Charikar, Moses and Li, Kai},
  title     = {Efficient k-nearest neighbor graph construction for generic similarity measures},
  booktitle = {Proceedings of the 20th International Conference on World Wide Web},
  pages     = {577--586},
  year      = {2011},
  doi       = {10.1145/1963405.1963487}
}""",
    "W. Dong, M. Charikar and K. Li. Efficient k-nearest neighbor graph construction for generic "
    "similarity measures. Proceedings of the 20th International Conference on World Wide Web, "
    "577–586, 2011. doi:10.1145/1963405.1963487",
)
NUMBA = Citation(
    "LamPitrouSeibert2015",
    """@inproceedings{LamPitrouSeibert2015,
  author    = {Lam, Siu Kwan and Pitrou, Antoine and Seibert, Stanley},
  title     = {Numba: a {LLVM}-based {Python} {JIT} compiler},
  booktitle = {Proceedings of the Second Workshop on the {LLVM} Compiler Infrastructure in {HPC}},
  pages     = {7:1--7:6},
  year      = {2015},
  doi       = {10.1145/2833157.2833162}
}""",
    "S. K. Lam, A. Pitrou and S. Seibert. Numba: a LLVM-based Python JIT compiler. Proceedings of "
    "the Second Workshop on the LLVM Compiler Infrastructure in HPC, 2015. "
    "doi:10.1145/2833157.2833162",
)
CUPY = Citation(
    "OkutaEtAl2017",
    """@inproceedings{OkutaEtAl2017,
  author    = {Okuta, Ryosuke and Unno, Yuya and Nishino, Daisuke and Hido, Shohei and
               Loomis, Crissman},
  title     = {{CuPy}: A {NumPy}-compatible library for {NVIDIA} {GPU} calculations},
  booktitle = {Proceedings of Workshop on Machine Learning Systems (LearningSys) in the
               Thirty-first Annual Conference on Neural Information Processing Systems},
  year      = {2017}
}""",
    "R. Okuta, Y. Unno, D. Nishino, S. Hido and C. Loomis. CuPy: A NumPy-compatible library for "
    "NVIDIA GPU calculations. Proceedings of Workshop on Machine Learning Systems (LearningSys) in "
    "the Thirty-first Annual Conference on Neural Information Processing Systems, 2017.",
)
DIFFUSION_FORECAST = Citation(
    "BerryGiannakisHarlim2015",
    """@article{BerryGiannakisHarlim2015,
  author  = {Berry, Tyrus and Giannakis, Dimitrios and Harlim, John},
  title   = {Nonparametric forecasting of low-dimensional dynamical systems},
  journal = {Physical Review E},
  volume  = {91},
  pages   = {032915},
  year    = {2015},
  doi     = {10.1103/PhysRevE.91.032915}
}""",
    "T. Berry, D. Giannakis and J. Harlim. Nonparametric forecasting of low-dimensional dynamical "
    "systems. Physical Review E 91, 032915, 2015. doi:10.1103/PhysRevE.91.032915",
)
ANALOGS = Citation(
    "ZhaoGiannakis2016",
    """@article{ZhaoGiannakis2016,
  author  = {Zhao, Zhizhen and Giannakis, Dimitrios},
  title   = {Analog forecasting with dynamics-adapted kernels},
  journal = {Nonlinearity},
  volume  = {29},
  number  = {9},
  pages   = {2888--2939},
  year    = {2016},
  doi     = {10.1088/0951-7715/29/9/2888}
}""",
    "Z. Zhao and D. Giannakis. Analog forecasting with dynamics-adapted kernels. Nonlinearity "
    "29(9), 2888–2939, 2016. doi:10.1088/0951-7715/29/9/2888",
)
