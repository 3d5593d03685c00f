"""How right the answers are: ``python benchmarks/accuracy.py`` prints what the tests assert.

Each section is one claim: what was estimated, against which truth, and what came out.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import vbdm

warnings.simplefilter("ignore", vbdm.VbdmWarning)


def best_of(graph, sample, c1, epsilons, **options):
    """Return the largest relative error of λ1..λ3 at the best ε, that ε, and the eigenvalues."""
    truth = sample.truth(4, c1).eigenvalues
    results = []
    for epsilon in epsilons:
        op = vbdm.estimate_operator(
            graph, c1, "paper", dim=sample.dim, epsilon=epsilon, **options
        )  # fmt: skip
        values = op.spectrum(4).eigenvalues
        results.append((np.abs(values[1:] / truth[1:] - 1).max(), epsilon, values))
    return min(results, key=lambda result: result[0])


def forms_on(sample, n_neighbors, epsilons, alphas):
    angle = sample.parameters[:, 0]
    graph = vbdm.neighbors(sample.points, n_neighbors)
    for form in ("left", "right", "symmetric"):
        drift = 0 if form == "left" else -(sample.dim + 2) * np.sin(angle) * np.cos(angle)
        for alpha in alphas:
            errors = [
                np.abs(
                    vbdm.estimate_operator(
                        graph, method="paper", alpha=alpha, form=form,
                        bandwidth=np.exp(np.cos(angle)),
                        dim=sample.dim, epsilon=epsilon,
                    ) @ np.sin(angle) - (drift - np.sin(angle))
                ).max()
                for epsilon in epsilons
            ]  # fmt: skip
            print(f"   {form:9s} α={alpha}: " + "  ".join(f"{error:.5f}" for error in errors))


def given_bandwidths():
    print(
        "1. Circle, 3000 points, ρ = exp(cos θ), largest error of L sin θ at ε = .01, .001, .0005"
    )
    circle = vbdm.datasets.circle(3000, density="uniform", offset="periodic")
    forms_on(circle, 1200, (0.01, 0.001, 0.0005), alphas=(0, 1))
    print("   Torus, 62,500 points, k = 500, at ε = .001, .0005")
    forms_on(vbdm.datasets.torus(62_500, sampling="grid"), 500, (0.001, 0.0005), alphas=(0,))


def estimated_density():
    print("2. Circle, 8000 points, q ∝ exp(cos θ) estimated, largest error at ε = .004, .002, .001")
    sample = vbdm.datasets.circle(8000, density="exponential", offset="midpoint")
    angle = sample.parameters[:, 0]
    graph = vbdm.neighbors(sample.points, 3000)
    epsilons = (0.004, 0.002, 0.001)
    for c1 in (0, 1):
        exact = -np.sin(angle) - c1 * np.sin(angle) * np.cos(angle)
        errors = [
            np.abs(
                vbdm.estimate_operator(graph, c1, "paper", dim=1, epsilon=e) @ np.sin(angle) - exact
            ).max()
            for e in epsilons
        ]
        slope = np.polyfit(np.log(epsilons), np.log(errors), 1)[0]
        print(f"   c1={c1}: " + "  ".join(f"{e:.4f}" for e in errors) + f"  slope {slope:.2f}")
    print("3. The same circle, known potential U = sin 2θ, at ε = .001, .0005")
    exact = -np.sin(angle) - 2 * np.cos(2 * angle) * np.cos(angle)
    errors = [
        np.abs(
            vbdm.estimate_operator(
                graph, method="paper", potential=np.sin(2 * angle), dim=1, epsilon=e
            )
            @ np.sin(angle)
            - exact
        ).max()
        for e in (0.001, 0.0005)
    ]
    print("   " + "  ".join(f"{error:.4f}" for error in errors))
    print("6. The same circle, c1 = 1, each shape at ε = .001, .0005")
    exact = -np.sin(angle) - np.sin(angle) * np.cos(angle)
    for shape in vbdm.shapes.SHAPES:
        errors = [
            np.abs(
                vbdm.estimate_operator(graph, 1, "paper", dim=1, epsilon=e, shape=shape)
                @ np.sin(angle)
                - exact
            ).max()
            for e in (0.001, 0.0005)
        ]
        print(f"   {shape:9s} " + "  ".join(f"{error:.5f}" for error in errors))


def grids():
    sample = vbdm.datasets.ou(2000, sampling="grid")
    spectrum = vbdm.estimate_operator(
        sample.points, "generator", "paper", dim=1, epsilon=1e-4, n_neighbors=2000
    ).spectrum(4)
    exact = sample.truth(4).eigenfunctions(sample.parameters)[:, 3]
    exact = exact / np.sqrt(np.mean(exact**2))
    mse = np.mean((vbdm.align(spectrum.eigenfunctions[:, 3], exact) - exact) ** 2)
    print(f"4. OU grid, N = 2000, all pairs, ε = 1e-4: λ {spectrum.eigenvalues.round(4)}")
    print(f"   mean square error of the 4th eigenfunction {mse:.5f}")
    sample = vbdm.datasets.circle(1500)
    spectrum = vbdm.estimate_operator(
        sample.points, method="paper", dim=1, epsilon=2.0**-10, n_neighbors=1500
    ).spectrum(5)
    print(f"   Circle, N = 1500, ε = 2^-10: λ {spectrum.eigenvalues.round(4)}")


def away_from_two_dimensions():
    print("5. Random points, d ≠ 2, at the best ε: largest error of the first three eigenvalues")
    for seed in range(4):
        sample = vbdm.datasets.ou(5000, random_state=seed)
        graph = vbdm.neighbors(sample.points, 600)
        error, epsilon, values = best_of(
            graph, sample, 1, 2.0 ** np.arange(-16, -11), n_density_neighbors=32
        )
        print(f"   OU on R, seed {seed}: {error:.3f} at ε = {epsilon:.1e}, λ {values.round(3)}")
    for c1 in (0.0, 0.5, 1.0):
        worst = 0.0
        for seed in range(3):
            sample = vbdm.datasets.circle(
                3000, density="exponential", sampling="random", random_state=seed
            )
            graph = vbdm.neighbors(sample.points, 300)
            found = best_of(graph, sample, c1, 2.0 ** np.arange(-12, -9), n_density_neighbors=32)
            worst = max(worst, found[0])
        print(f"   circle, q ∝ exp(cos θ), c1 = {c1}: {worst:.3f} (worst of three seeds)")
    sample = vbdm.datasets.sphere(10_000, dim=3, axes=(1, 0.8, 0.6, 0.7), random_state=0)
    graph = vbdm.neighbors(sample.points, 200)
    error, epsilon, values = best_of(graph, sample, 0, 2.0 ** np.arange(-11, -8), beta=-1 / 3)
    print(f"   projected S³, β = -1/3: {error:.3f} at ε = {epsilon:.1e}, λ {values.round(3)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    given_bandwidths()
    estimated_density()
    grids()
    away_from_two_dimensions()


if __name__ == "__main__":
    main()
