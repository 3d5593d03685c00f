"""Absurd arguments, damaged files, tampered models: an answer or words, never anything else.

===================  ===============================================================================
`budget`             how many cases: few by default, many under the marker `slow`
`trial`              one case in a process of its own, with limits on time and memory; its outcome
`models`             saved models, wrong values for all that stands in them, and their use
`files`              files of points in every format, and ways to damage them
`test_fuzz_api`      absurd arguments to public functions
`io/test_fuzz`       files of points with random damage, saved models with a wrong value
===================  ===============================================================================

A case is a small tuple that can be sent to another process, and everything in it follows from fixed
seeds: what fails once fails again. A fuzz of its own is a module here with a function that judges
one case, and a test that hands cases to `trial.run`.
"""
