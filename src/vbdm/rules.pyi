from vbdm.bandwidth.rules import *
