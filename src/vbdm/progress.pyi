from vbdm.base.progress import *
