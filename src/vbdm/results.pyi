from vbdm.io.results import *
