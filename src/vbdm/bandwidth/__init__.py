"""The bandwidth room: how wide the kernel is, everywhere and at each point.

It knows distances between neighbours, and no kernel yet. It takes a `NeighborGraph` and gives the
pilot density q0, the dimension d, the bandwidth ρ and the global scale ε, each by a rule that is an
object (`vbdm.rules`).

===================  ===============================================================================
`pilot`              ρ0 and q0: a first look at the density
`dimension`          d, from ratios of neighbour distances, or given
`bandwidth`          ρ, and the rules for it: a power of the density, the user, a potential
`scaled`             scaled distances t = |x-y|²/(ρρ): what is known before ε is chosen; where the
                     kernel is cut
`epsilon_by_degree`  the default rule for ε: sparse points have enough neighbours
`epsilon_by_slope`   the paper's rule for ε and for d: where S(ε) is steepest
`sums_within_reach`  sums of a kernel over all pairs within its reach
`tuning`             the choice of ε, and the curves by which it can be judged
`rules`              all rules that a user may pass, in one place
===================  ===============================================================================
"""
