from vbdm.spectrum.solvers import *
