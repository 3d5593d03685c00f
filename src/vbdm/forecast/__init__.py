"""Forecasts and filters from time series alone: what comes next, with a calibrated spread.

It knows the operator of the states of a series. `vbdm.Forecaster` is its door.

=====================  =============================================================================
`reading`              series as people have them, as one table
`time_axis`            times of rows as whole numbers of steps, and back
`cycle`                the cycle of the seasons: taken off, and put back
`seasons`              what cycle a record has, and where in it new rows stand
`record`               series in rows, and the states that they went through
`predictor`            what both predictors have in common: weights of the rows of the record
`neighbours`           what came after similar states
`modes`                a density in a basis of smooth functions, moved by one matrix
`bases`                that basis: coordinates, eigenfunctions, kernels around landmarks
`leads`                numbers that depend on the lead
`ensemble`             weighted values: mean, variance, quantiles, density, scores
`climatology`          what is known without a forecast
`holdout`              parts of the record that are held out in turn
`judged`               scores of what is held out, for any share of climatology
`trial`                a predictor that was tried, and whether it is worth more than another
`choose_neighbours`    the sharpness of the kernel at each lead
`choose_modes`         the number of modes
`calibration`          the spread that makes intervals right
`learn`                all of this, from series to what is learned
`learned`              what was learned: a predictor, and the spread of its forecasts
`questions`            what a forecast is asked for: leads, starts, observables
`forecast`             the result: a distribution for each start, lead and column
`references`           what a forecast must beat
`scores`, `skill`      how good forecasts are, beside these
`tables`, `words`      results as frames and data sets, and in words
`likelihoods`          how observations come about
`filtering`            what is known of a state after noisy or partial observations
=====================  =============================================================================
"""
