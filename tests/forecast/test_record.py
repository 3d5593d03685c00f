"""Series in rows, states and pairs: never across a joint, never from a missing value."""

import numpy as np
import pytest

import vbdm
from vbdm.forecast.record import Record
from vbdm.prepare.delays import Delays

LENGTHS = [7, 1, 5, 12]
#: Each value says which series and which row of it this is.
SERIES = np.repeat(np.arange(4), LENGTHS)
PLACE = np.concatenate([np.arange(n) for n in LENGTHS])
VALUES = np.column_stack([SERIES * 100.0 + PLACE, -PLACE * 1.0])
HOLES = VALUES.copy()
HOLES[3, 1] = HOLES[15, 0] = HOLES[24] = np.nan
CASES = [(count, step) for count in (1, 2, 3) for step in (1, 2)]


def by_hand(values, delays):
    """Return the rows that have a state, one by one."""
    lags = [k * delays.step for k in range(delays.count)]
    found = []
    for row in range(len(values)):
        parts = [row - lag for lag in lags]
        inside = min(parts) >= 0 and all(SERIES[part] == SERIES[row] for part in parts)
        if inside and np.isfinite(values[parts]).all():
            found.append(row)
    return found


@pytest.mark.parametrize(("count", "step"), CASES)
@pytest.mark.parametrize("values", [VALUES, HOLES])
def test_states_are_those_found_by_hand(values, count, step):
    delays = Delays(count, step)
    record = Record.of(values, LENGTHS, delays, at_least=1)
    assert record.rows.tolist() == by_hand(values, delays)
    scaled = (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)
    wanted = [np.concatenate([scaled[row - lag] for lag in delays.lags]) for row in record.rows]
    np.testing.assert_allclose(record.states, wanted, atol=1e-12)


@pytest.mark.parametrize(("count", "step"), CASES)
@pytest.mark.parametrize("lead", [1, 2, 4, 11, 12, 25, 10**9])
def test_later_rows_and_pairs_stay_in_their_series(count, step, lead):
    record = Record.of(HOLES, LENGTHS, Delays(count, step), at_least=1)
    ahead = record.later(lead)
    for row, other in zip(record.rows, ahead, strict=True):
        there = row + lead < len(SERIES) and SERIES[row + lead] == SERIES[row]
        assert other == (row + lead if there else -1)
    first, second = record.pairs(lead)
    states = set(record.rows)
    wanted = [(r, r + lead) for r in record.rows if r + lead in states]
    wanted = [(r, s) for r, s in wanted if SERIES[r] == SERIES[s]]
    assert list(zip(record.rows[first], record.rows[second], strict=True)) == wanted


def test_the_state_of_a_row_is_the_one_that_ends_there():
    record = Record.of(HOLES, LENGTHS, Delays(2), at_least=1)
    for row in range(len(SERIES)):
        if row in record.rows:
            assert record.rows[record.state_of[row]] == row
        else:
            assert record.state_of[row] == -1


def test_new_series_are_scaled_as_the_record_was():
    record = Record.of(VALUES, LENGTHS, Delays(2), at_least=1)
    rows, states = record.states_in(VALUES[-12:] + 5, [12])
    assert rows.tolist() == list(range(1, 12))
    moved = np.broadcast_to(5 / np.tile(VALUES.std(axis=0), 2), states.shape)
    np.testing.assert_allclose(states - record.states[-11:], moved)


def test_a_constant_column_keeps_its_unit():
    values = np.column_stack([np.arange(40.0), np.full(40, 0.1)])
    record = Record.of(values, [40], Delays(1))
    assert np.abs(record.states[:, 1]).max() < 1e-12
    assert record.states[:, 0].std() == pytest.approx(1)


def test_too_few_states_are_refused_with_their_number():
    with pytest.raises(vbdm.InputError, match="25 rows with 18 complete states of 3 row"):
        Record.of(VALUES, LENGTHS, Delays(3, 1))


def test_a_record_cannot_be_changed():
    record = Record.of(VALUES, LENGTHS, Delays(2), at_least=1)
    for part in (record.values, record.states, record.rows, record.series_of, record.state_of):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1


def test_delays_of_a_series_that_is_too_short():
    assert Delays(5, 2).reach == 8
    assert Delays(5, 2).lags == (0, 2, 4, 6, 8)
    assert len(Delays(5, 2).rows(np.ones(8, dtype=bool))) == 0
    assert Delays(5, 2).rows(np.ones(9, dtype=bool)).tolist() == [8]
