"""Time and memory of the whole estimate, stage by stage, for `asv` (airspeed velocity)."""

import warnings

import vbdm

SAMPLES = {
    "OU R2": lambda n: vbdm.datasets.ou(n, dim=2, random_state=0),
    "OU R3": lambda n: vbdm.datasets.ou(n, dim=3, random_state=0),
    "curve": lambda n: vbdm.datasets.closed_curve(n, ambient=10, random_state=0),
}


class Estimate:
    """From points to ten eigenpairs with error bars."""

    params = (list(SAMPLES), [1_000, 10_000, 100_000])
    param_names = ("problem", "points")
    timeout = 120

    def setup(self, problem, n_points):
        warnings.simplefilter("ignore", vbdm.VbdmWarning)
        self.sample = SAMPLES[problem](n_points)
        operator = "laplacian" if problem == "curve" else "generator"
        self.options = (self.sample.points, operator)
        self.operator = vbdm.estimate_operator(*self.options)
        self.spectrum = self.operator.spectrum(10)

    def time_operator(self, problem, n_points):
        vbdm.estimate_operator(*self.options)

    def time_spectrum(self, problem, n_points):
        self.operator.spectrum(10)

    def time_new_points(self, problem, n_points):
        vbdm.extend(self.spectrum, self.sample.points[:500] + 1e-6, outside="nearest")

    def peakmem_all(self, problem, n_points):
        _ = vbdm.estimate_operator(*self.options).spectrum(10).standard_errors

    def track_products(self, problem, n_points):
        return self.spectrum.log.products


def timeraw_import():
    """Return what a fresh interpreter runs."""
    return "import vbdm"
