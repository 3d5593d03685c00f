"""What is done to points before the walk: delays, principal and slow directions, series.

`delays` embeds a time series, `projection` reduces columns (`vbdm.pca`, `vbdm.tica`), and `series`
reads how rows follow each other.
"""
