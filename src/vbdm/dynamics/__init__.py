"""What the eigenpairs say about time: evolution, correlations, a clock, metastable states.

It knows a `Spectrum`. All of it is asked for by the spectrum's own verbs.

=================  =================================================================================
`basis`            the span of the modes: functions to coefficients, and back
`evolution`        e^{tL} f by modes
`steps`            e^{tL} f in small steps, for short times
`correlations`     correlations in time, power spectra, relaxation, linear response
`distances`        diffusion and commute distances, pseudotime
`clock`            the result of a clock: diffusivity, times, rates
`clock_words`      its arguments, and what is said where modes disagree or tell nothing
`diffusivity`      the clock, from how fast modes forget along a time series
`states`           the result: metastable states
`metastable`       how many states, their populations, the rates between them
`simplex`          PCCA+: from the slowest modes to memberships
`lagged`           modes along time series, and what each row adds to their correlations
=================  =================================================================================
"""
