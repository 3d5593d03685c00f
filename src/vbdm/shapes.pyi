from vbdm.base.shapes import *
