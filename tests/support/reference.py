"""The paper's Section 3 with full N×N matrices, written from the paper and from nothing else."""

import numpy as np


def squared_distances(X):
    return ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)


def pilot(X, k0, d):
    D2 = squared_distances(X)
    nearest = np.sort(D2, axis=1)
    rho0 = np.sqrt(nearest[:, 1:k0].sum(axis=1) / (k0 - 1))
    kernel = np.exp(-D2 / (2 * np.outer(rho0, rho0)))
    q0 = (2 * np.pi) ** (-d / 2) / (rho0**d * len(X)) * kernel.sum(axis=1)
    return rho0, q0


def slopes(D2, rho):
    t = D2 / np.outer(rho, rho)
    S = np.array([np.exp(-t / (4 * 2.0**i)).sum() / len(t) ** 2 for i in range(-30, 11)])
    return S, np.diff(np.log(S)) / np.log(2)


def operator(X, *, c1, beta, d, epsilon, k0):
    """Return L, L-hat, the density and α."""
    D2 = squared_distances(X)
    _, q0 = pilot(X, k0, d)
    rho = q0**beta
    alpha = 1 + beta * (d / 2 + 1) - c1 / 2
    K = np.exp(-D2 / (4 * epsilon * np.outer(rho, rho)))
    qS = K.sum(axis=1) / rho**d
    Ka = K / np.outer(qS, qS) ** alpha
    D = Ka.sum(axis=1)
    L = (Ka / D[:, None] - np.eye(len(X))) / (epsilon * rho[:, None] ** 2)
    Lhat = (Ka / np.sqrt(np.outer(D, D)) - np.eye(len(X))) / (epsilon * np.outer(rho, rho))
    density = K.sum(axis=1) / (len(X) * (4 * np.pi * epsilon) ** (d / 2) * rho**d)
    return L, Lhat, density, alpha
