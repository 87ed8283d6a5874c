"""Runge-Kutta steps of the Lorenz system; the derivative is a helper that makes a small array.

Source: textbook integrators
Tags: recurrence, sequential, helper
Grad: no
Hand: the loop on Python floats
"""
import numpy as np


def lorenz(state, sigma, rho, beta):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def slow(state, dt, steps, sigma, rho, beta):
    traj = np.zeros((steps + 1, 3))
    traj[0] = state
    for i in range(steps):
        k1 = lorenz(state, sigma, rho, beta)
        k2 = lorenz(state + dt / 2 * k1, sigma, rho, beta)
        k3 = lorenz(state + dt / 2 * k2, sigma, rho, beta)
        k4 = lorenz(state + dt * k3, sigma, rho, beta)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        traj[i + 1] = state
    return traj


def hand(state, dt, steps, sigma, rho, beta):
    def f(x, y, z):
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    x, y, z = state.tolist()
    rows = [(x, y, z)]
    h = dt / 2
    for _ in range(steps):
        a, b, c = f(x, y, z)
        a2, b2, c2 = f(x + h * a, y + h * b, z + h * c)
        a3, b3, c3 = f(x + h * a2, y + h * b2, z + h * c2)
        a4, b4, c4 = f(x + dt * a3, y + dt * b3, z + dt * c3)
        x += dt / 6 * (a + 2 * a2 + 2 * a3 + a4)
        y += dt / 6 * (b + 2 * b2 + 2 * b3 + b4)
        z += dt / 6 * (c + 2 * c2 + 2 * c3 + c4)
        rows.append((x, y, z))
    return np.array(rows)


def inputs(size="small", seed=0):
    steps = {"tiny": 5, "small": 400, "full": 20000}[size]
    return np.random.default_rng(seed).random(3), 0.0005, steps, 10.0, 28.0, 8 / 3
