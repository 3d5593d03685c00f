"""The extension room: everything at new points.

It knows a `Spectrum`, or an `Operator` with a function on its points. It takes new points and gives
an `Extension`: eigenfunctions, density, or any function there, with a flag where there is no data.

==============  ====================================================================================
`extension`     eigenfunctions, functions and density at new points
`rows`          rows of the kernel at new points, measured as at the training points
==============  ====================================================================================
"""
