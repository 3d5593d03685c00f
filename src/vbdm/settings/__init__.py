"""Settings: what the user asked for, which rules follow from it, and what was decided on the way.

It knows the rules of the rooms before it. It takes the arguments of `estimate_operator` and gives a
`Request` (what is wanted, by which `Method`); after the walk it holds `Settings`, the record that
`Operator`, `Spectrum`, saved models, results.json and the page carry.

=============  =====================================================================================
`method`       the two methods as bundles of rules and switches
`arguments`    from the user's arguments to a method, with every check
`series`       how the rows follow each other: one time series, several, or none
`weights`      whether weights of the points multiply pairs or count as multiplicities
`record`       what was asked for and what was decided
=============  =====================================================================================
"""
