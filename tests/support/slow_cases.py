"""Cases that take seconds, and whose siblings or figures stay in the quick suite: `make test-slow`.

Names of tests as pytest prints them, below `tests/`. Other slow tests are marked where they stand.
"""

SLOW_CASES = {
    line.strip()
    for line in """
    blocks/test_block_equations.py::test_blocks_in_memory_and_on_disk[copies]
    blocks/test_block_equations.py::test_blocks_in_memory_and_on_disk[pieces]
    blocks/test_block_weights.py::test_blocks_change_nothing[counts-placement1]
    blocks/test_operator.py::test_blocks_change_no_bit[space-scipy]
    blocks/test_results.py::test_on_a_cluster_it_is_an_array_of_dask[values0]
    contract/test_benchmarks.py::test_accuracy_table
    contract/test_benchmarks.py::test_beside_deeptime
    contract/test_benchmarks.py::test_equations
    contract/test_benchmarks.py::test_forecasts[sections1-0.1-bounds1]
    contract/test_benchmarks.py::test_modules_touched[walk]
    contract/test_persistence.py::test_loaded_is_equal_bit_by_bit[lists released-True]
    contract/test_persistence.py::test_loaded_is_equal_bit_by_bit[table released-True]
    contract/test_saved_forecasts.py::test_forecasts_are_equal_bit_by_bit[chosen]
    contract/test_saved_forecasts.py::test_scores_on_what_was_held_out_are_the_same[chosen]
    convergence/test_error_bars.py::test_spread_over_a_few_sets[circle, c1=0]
    truth/test_forecast_truth.py::test_conditional_moments_in_the_plane
    truth/test_resolved.py::test_any_drift[2.0]
    truth/test_resolved.py::test_eigenvalues_without_tuning[noisy circle]
    truth/test_resolved.py::test_outliers_and_duplicates[with_duplicates]
    truth/test_weights.py::test_a_wide_gaussian_gives_the_narrow_one[1500-3-0.15]
    truth/test_weights.py::test_rate_over_a_barrier_of_8_kT[4-4201]
    truth/test_weights.py::test_weights_that_jump_count_as_multiplicities[2-4206]
    unit/test_compute_engines.py::test_the_same_bits_with_any_number_of_threads[scipy]
    unit/test_copies.py::test_the_symmetric_conjugate_has_the_spectrum
    unit/test_diagnose.py::test_the_judgement_on_the_tail_is_that_of_the_warning
    unit/test_epsilon_by_degree.py::test_a_target_that_cannot_be_reached_is_said_to_be_out_of_reach
    unit/test_equation_solver.py::test_few_iterations_on_sets_of_all_sizes[narrow]
    unit/test_forecast_choices.py::test_chaos_asks_for_neighbours_and_noise_for_modes
    unit/test_verification.py::test_spectra_pass_and_a_lost_copy_is_found[far points-counted]
    unit/test_verification.py::test_spectra_pass_and_a_lost_copy_is_found[torus grid-counted]
    unit/test_verification.py::test_what_both_solvers_overlook_is_counted[torus grid]
    unit/test_verification.py::test_work_grows_with_the_dimension
    """.strip().splitlines()
}  # fmt: skip
