from vbdm.io.single_cell import *
