"""95 % confidence intervals, the same as those of ``agents arena``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Estimate(NamedTuple):
    """A number with its 95 % confidence interval, from low to high."""

    value: float
    low: float
    high: float


def mean(samples: Sequence[float]) -> Estimate:
    """Estimate a mean, by Student's interval. A single sample is its own."""
    value, n, half = float(np.mean(samples)), len(samples), 0.0
    if n > 1:
        half = t_quantile(0.975, n - 1) * math.sqrt(float(np.var(samples, ddof=1)) / n)
    return Estimate(value, value - half, value + half)


def mean_within(samples: Sequence[float], low: float, high: float) -> Estimate:
    """Estimate a mean that is known to lie from low to high, which is the interval of a single sample.

    If all n samples are equal, their variance says nothing. Other values then have a probability of at most
    q = 1 - 0.025 ** (1 / n), and the interval allows for that probability at one bound or the other.
    """
    if len(samples) < 2:
        return Estimate(float(np.mean(samples)), low, high)
    value, below, above = mean(samples)
    if min(samples) == max(samples):
        q = 1 - 0.025 ** (1 / len(samples))
        return Estimate(value, value - q * (value - low), value + q * (high - value))
    return Estimate(value, max(low, below), min(high, above))


def per_event(total: float, events: int) -> Estimate:
    """Estimate the mean distance between events, from the exact interval of a Poisson count.

    Without an event, value is a lower bound at 95 %, and high is 0, which means none.
    """
    if events == 0:
        low = total / -math.log(0.05)
        return Estimate(low, low, 0.0)
    return Estimate(total / events, total / _poisson_mean(0.975, events + 1), total / _poisson_mean(0.025, events))


def elo(score: float, games: int) -> float:
    """Return the rating difference of a score from 0 to 1, kept half a game away from both, so that it is finite."""
    edge = 0.5 / max(games, 1)
    score = min(max(score, edge), 1 - edge)
    return 400 * math.log10(score / (1 - score))


def t_quantile(p: float, dof: float) -> float:
    """Return the quantile p, 0.5 <= p < 1, of Student's t distribution."""

    def cdf(t: float) -> float:
        return 1 - 0.5 * _beta(dof / (dof + t * t), dof / 2, 0.5)

    return _solve(cdf, p)


def _poisson_mean(p: float, n: int) -> float:
    """Return the mean m for which n or more events have probability p: half the quantile p of chi-square with 2 n."""

    def cdf(m: float) -> float:
        logs = [k * math.log(m) - m - math.lgamma(k + 1) for k in range(n)] if m > 0 else [0.0]
        return 1 - math.fsum(map(math.exp, logs))

    return _solve(cdf, p)


def _solve(cdf: Callable[[float], float], p: float) -> float:
    """Return x >= 0 with cdf(x) = p, by bisection."""
    low, high = 0.0, 1.0
    while cdf(high) < p:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if cdf(middle) < p else (low, middle)
    return low


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(
        a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - math.log(a)
    )
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    value = d
    for m in range(1, 1000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d or tiny)
            c = 1 + numerator / c or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * value
