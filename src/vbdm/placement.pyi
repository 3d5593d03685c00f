from vbdm.rows.placement import *
