"""Forecasts and filters from time series alone: what comes next, with a calibrated spread.

It knows the operator of the states of a series. `vbdm.Forecaster` is its door.

==============  ====================================================================================
`reading`       series as people have them, as one table
`times`         times of rows as whole numbers of steps, and back; the cycle of the seasons
`record`        series in rows, and the states that they went through
`predictor`     what both predictors have in common, and what is learned of them
`neighbours`    what came after similar states
`modes`         a density in a basis of smooth functions, moved by one matrix
`ensemble`      weighted values: mean, variance, quantiles, density, scores; climatology
`holdout`       parts of the record that are held out in turn, and the scores there
`choose`        the number of modes, and the sharpness of the kernel at each lead
`learn`         all of this, from series to what is learned: delays, predictor, spread
`forecast`      the result: a distribution for each start, lead and column
`references`    what a forecast must beat
`skill`         how good forecasts are, beside these
`words`         the same, as a table of text
`filtering`     what is known of a state after noisy or partial observations
==============  ====================================================================================
"""
