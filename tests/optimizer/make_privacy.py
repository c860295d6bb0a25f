#!/usr/bin/env python3
"""Prints the divergences and epsilons that privacy.test.cpp expects. They come from the definition
of the Renyi divergence by numeric integration, not from the series of the accountant.

    python -m venv v
    v/bin/pip install mpmath==1.4.1
    v/bin/python make_privacy.py
"""
import mpmath
from mpmath import mpf

mpmath.mp.dps = 60


def divergence(sampling, noise, order):
    """Renyi divergence of q N(1, s^2) + (1 - q) N(0, s^2) from N(0, s^2)."""
    q, s, a = sampling, mpf(str(noise)), mpf(str(order))

    def f(x):
        return mpmath.npdf(x, 0, s) * (1 - q + q * mpmath.exp((2 * x - 1) / (2 * s * s))) ** a

    # The integrand is largest near 0 and near the order.
    ends = sorted({-40 * s, -10 * s, -3 * s, mpf(0), mpf(1), 3 * s, a / 2, a - 3 * s, a, a + 3 * s, a + 10 * s, a + 40 * s})
    return mpmath.log(mpmath.quad(f, ends)) / (a - 1)


def epsilon(sampling, noise, steps, delta):
    """Least epsilon over some orders (Canonne, Kamath and Steinke 2020, proposition 12)."""
    best = mpmath.inf
    for order in [1.25, 1.5, 1.75, 2.25, 2.5, 3.5, 4.5, 5.5, 6.5, *range(2, 40)]:
        a = mpf(order)
        here = steps * divergence(sampling, noise, order) + mpmath.log(1 - 1 / a) - mpmath.log(delta * a) / (a - 1)
        best = min(best, here)
    return best


for case in ((0.01, 1, 2), (0.01, 0.6, 7), (0.3, 1.7, 33), (1e-4, 0.8, 5), (0.97, 0.5, 12), (0.01, 1.5, 1.5), (0.2, 0.9, 3.5),
             (0.03, 4, 20.25), (0.6, 2, 1.25)):
    print("           numbers{" + ", ".join(map(str, case)) + f", {mpmath.nstr(divergence(mpf(str(case[0])), *case[1:]), 15)}" + "},")
print("tutorial", mpmath.nstr(epsilon(mpf(250) / 60000, 1.3, 3600, mpf("1e-5")), 12))
print("abadi", mpmath.nstr(epsilon(mpf("0.01"), 4, 10000, mpf("1e-5")), 12))
