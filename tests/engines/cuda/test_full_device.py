"""A device whose memory runs out, or would."""

from __future__ import annotations

import numpy as np
import pytest

import vbdm
from vbdm.engines.cuda.availability import errors_in_words

from .cupy_errors import error_of_cupy
from .emulated import needs_compiler

pytestmark = pytest.mark.usefixtures("fresh_look")
POINTS = np.random.default_rng(0).standard_normal((300, 2))


def test_memory_that_ran_out_is_given_back(emulated):
    kept = []

    class Large:
        def __del__(self):
            kept.append("freed")

    def work():
        large = Large()
        raise error_of_cupy(
            "OutOfMemoryError", "Out of memory allocating 12,500,000,000 bytes (allocated so far: "
            "1 bytes).", MemoryError,
        ) if large else None  # fmt: skip

    emulated.limit = 3 * 10**9
    with pytest.raises(vbdm.errors.OutOfMemoryError) as caught, errors_in_words():
        work()
    text = str(caught.value)
    assert text.startswith(
        "The GPU's memory ran out; received a request for 12.5 GB; of 8.59 GB, 3"
    )
    for advice in ("effort=0.5", "fewer points", "run='numba'", "vbdm.estimate_memory"):
        assert advice in text
    assert kept == ["freed"]
    assert emulated.given_back


def test_what_the_user_was_dealing_with_is_left_as_it_is():
    def of_users():
        kept = "the user's"
        raise ValueError(kept)

    def work():
        raise error_of_cupy("OutOfMemoryError", "Out of memory allocating 1 bytes", MemoryError)

    try:
        of_users()
    except ValueError as error:
        earlier = error
        with pytest.raises(vbdm.errors.OutOfMemoryError), errors_in_words():
            work()
    frame = earlier.__traceback__.tb_next.tb_frame
    assert frame.f_locals["kept"] == "the user's"


@needs_compiler
def test_what_will_not_fit_is_refused_before_the_kernel(emulated):
    # Enough for what is foreseen, not for the pairs that are found.
    emulated.limit = 11_000_000
    points = np.concatenate([POINTS, POINTS + 0.01])
    with pytest.raises(vbdm.errors.OutOfMemoryError) as caught:
        vbdm.estimate_operator(points, epsilon=0.3, run="cuda")
    text = str(caught.value)
    assert text.startswith(
        "The estimate would not fit into the memory of the GPU; received 600 points"
    )
    assert "GB, where 0.0 GB are free. " in text
    for advice in ("effort=0.5", "random subset", "run='numba'", "vbdm.estimate_memory"):
        assert advice in text
    assert "kernel" not in " ".join(emulated.launched)


def test_memory_of_a_device():
    def needed(n, k, columns=2, **options):
        return vbdm.estimate_memory(n, k, columns, engine="cuda", **options)

    # GiB that CuPy's pool held after estimates on an H200.
    measured = [
        (10**6, 150, 2, 5.1), (10**6, 216, 3, 6.7), (10**6, 129, 10, 4.8),
        (10**7, 188, 2, 51.1), (10**7, 252, 3, 55.0), (10**7, 174, 10, 42.3),
    ]  # fmt: skip
    for n, k, columns, held in measured:
        assert needed(n, k, columns) / 2**30 == pytest.approx(held, rel=0.3)
    assert needed(10**6, 200) > needed(10**6, 100) > needed(10**5, 100)
    assert needed(10**6, 100, n_eigen=50) > needed(10**6, 100)
    assert needed(10**6, 100, 30) > needed(10**6, 100)
    with pytest.raises(vbdm.InputError, match="'auto', 'scipy', 'numba', 'cuda'"):
        vbdm.estimate_memory(100, 10, engine="gpu")
