"""The walk through the rooms: from points to the operator, and again at other ε.

It knows the rooms, and what each takes and gives; it computes nothing itself.

==============  ====================================================================================
`from_points`   the door: arguments are read, points placed, and the walk begun
`walk`          the list of rooms, from points to the operator
`first_graph`   its first step: the graph, given or searched
`scales`        its first half: density, dimension, ρ and ε
`model_points`  the points of a scikit-learn estimator: checked, reduced, read chunk by chunk
`again`         the walk once more: from some of the points, and at other ε
==============  ====================================================================================
"""

from .again import estimate_again as estimate_again
from .again import scan_epsilon as scan_epsilon
from .from_points import estimate_operator as estimate_operator
