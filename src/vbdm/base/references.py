"""The works that a result may rest on, and what a solver, an engine or a rule says of itself."""

from __future__ import annotations

import re
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


def work(kind: str, key: str, author: str, title: str, year: int, **where: str) -> Citation:
    """Return a work by its fields in BibTeX, from which the line of text is made."""
    doi = where.pop("doi", "")
    fields = {"author": author, "title": title, **where, "year": year}
    fields |= {"doi": doi} if doi else {}
    width = max(map(len, fields))
    entry = ",\n".join(f"  {name:{width}} = {{{value}}}" for name, value in fields.items())
    names = [
        " ".join([*(f"{part[0]}." for part in given.split()), family])
        for family, _, given in (name.partition(", ") for name in author.split(" and "))
    ]
    people = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    inside = where.get("journal") or where.get("booktitle") or where["publisher"]
    number = f"({where['number']})" if "number" in where else ""
    at = f"{inside} {where.get('volume', '')}{number}".strip()
    line = f"{people}. {title}. {', '.join(filter(None, [at, where.get('pages'), str(year)]))}."
    plain = re.sub(r"[{}]", "", line).replace("--", "–")
    return Citation(key, f"@{kind}{{{key},\n{entry}\n}}", plain + f" doi:{doi}" * bool(doi))


PAPER = work(
    "article", "BerryHarlim2016", "Berry, Tyrus and Harlim, John",
    "Variable bandwidth diffusion kernels", 2016,
    journal="Applied and Computational Harmonic Analysis", volume="40", number="1", pages="68--96",
    doi="10.1016/j.acha.2015.01.001",
)  # fmt: skip
DIFFUSION_MAPS = work(
    "article", "CoifmanLafon2006", "Coifman, Ronald R. and Lafon, St{\\'e}phane",
    "Diffusion maps", 2006,
    journal="Applied and Computational Harmonic Analysis", volume="21", number="1", pages="5--30",
    doi="10.1016/j.acha.2006.04.006",
)  # fmt: skip
LOBPCG = work(
    "article", "Knyazev2001", "Knyazev, Andrew V.",
    "Toward the optimal preconditioned eigensolver: Locally optimal block preconditioned "
    "conjugate gradient method", 2001,
    journal="SIAM Journal on Scientific Computing", volume="23", number="2", pages="517--541",
    doi="10.1137/S1064827500366124",
)  # fmt: skip
ARPACK = work(
    "book", "LehoucqSorensenYang1998", "Lehoucq, Richard B. and Sorensen, Danny C. and Yang, Chao",
    "{ARPACK} Users' Guide: Solution of Large-Scale Eigenvalue Problems with Implicitly "
    "Restarted {Arnoldi} Methods", 1998,
    publisher="SIAM", doi="10.1137/1.9780898719628",
)  # fmt: skip
DIMENSION = work(
    "inproceedings", "LevinaBickel2004", "Levina, Elizaveta and Bickel, Peter J.",
    "Maximum likelihood estimation of intrinsic dimension", 2004,
    booktitle="Advances in Neural Information Processing Systems", volume="17",
)  # fmt: skip
DESCENT = work(
    "inproceedings", "DongCharikarLi2011", "Dong, Wei and Charikar, Moses and Li, Kai",
    "Efficient k-nearest neighbor graph construction for generic similarity measures", 2011,
    booktitle="Proceedings of the 20th International Conference on World Wide Web",
    pages="577--586", doi="10.1145/1963405.1963487",
)  # fmt: skip
NUMBA = work(
    "inproceedings", "LamPitrouSeibert2015",
    "Lam, Siu Kwan and Pitrou, Antoine and Seibert, Stanley",
    "Numba: a {LLVM}-based {Python} {JIT} compiler", 2015,
    booktitle="Proceedings of the Second Workshop on the {LLVM} Compiler Infrastructure in {HPC}",
    pages="7:1--7:6", doi="10.1145/2833157.2833162",
)  # fmt: skip
CUPY = work(
    "inproceedings", "OkutaEtAl2017",
    "Okuta, Ryosuke and Unno, Yuya and Nishino, Daisuke and Hido, Shohei and Loomis, Crissman",
    "{CuPy}: A {NumPy}-compatible library for {NVIDIA} {GPU} calculations", 2017,
    booktitle="Proceedings of Workshop on Machine Learning Systems (LearningSys) in the "
    "Thirty-first Annual Conference on Neural Information Processing Systems",
)  # fmt: skip
DIFFUSION_FORECAST = work(
    "article", "BerryGiannakisHarlim2015", "Berry, Tyrus and Giannakis, Dimitrios and Harlim, John",
    "Nonparametric forecasting of low-dimensional dynamical systems", 2015,
    journal="Physical Review E", volume="91", pages="032915", doi="10.1103/PhysRevE.91.032915",
)  # fmt: skip
ANALOGS = work(
    "article", "ZhaoGiannakis2016", "Zhao, Zhizhen and Giannakis, Dimitrios",
    "Analog forecasting with dynamics-adapted kernels", 2016,
    journal="Nonlinearity", volume="29", number="9", pages="2888--2939",
    doi="10.1088/0951-7715/29/9/2888",
)  # fmt: skip
