from vbdm.graph.search import *
