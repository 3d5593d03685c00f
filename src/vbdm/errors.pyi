from vbdm.base.errors import *
