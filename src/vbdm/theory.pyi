from vbdm.operator.theory import *
