"""What the eigenpairs say about time: evolution, correlations, a clock, metastable states.

It knows a `Spectrum`, whose accessor `spectrum.dynamics` has all of it as methods, each of which
stands beside its mathematics.

=================  =================================================================================
`dynamics`         the accessor, and the span of the modes: functions to coefficients, and back
`evolution`        e^{tL} f by modes, or in small steps for short times; the drift L x
`correlations`     correlations in time, power spectra, relaxation, linear response
`distances`        diffusion and commute distances, pseudotime
`clock`            the result of a clock: diffusivity, times, rates; and what is said about them
`diffusivity`      the clock, from how fast modes forget along a time series
`lagged`           modes along time series, and what each row adds to their correlations
`states`           metastable states by PCCA+: how many, their populations, rates between them
=================  =================================================================================
"""
