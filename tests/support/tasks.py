"""Functions of blocks for the tests of places: module-level, as places want them; and a killer."""

import os
import signal
import time

import numpy as np

from vbdm.rows.workers import worth_keeping


def kill_one(client):
    """End the process of the oldest worker; the cluster will start another.

    One that has only just started might be given up instead. Nobody is asked: a message to all
    workers fails if one of them is being replaced.
    """
    import psutil

    numbers = [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid is not None]
    os.kill(min(numbers, key=lambda number: psutil.Process(number).create_time()), signal.SIGKILL)


def doubled(values):
    return 2 * values


def gram(values):
    return values.T @ values


def both(values):
    return values[:, 0] + 1, values[:, 1:] * 2


def shifted(values, by):
    values += by
    return values.sum(axis=0)


def slow(values, seconds):
    time.sleep(seconds)
    return values + 1


def plus(values, shared, block):
    return values + shared[0] + block


def failing(values):
    raise ValueError("on purpose")


def deadly(values):
    os.kill(os.getpid(), signal.SIGKILL)


def without_memory(values):
    raise MemoryError


def state(values):
    from threadpoolctl import threadpool_info

    from vbdm.base.threads import WORKER

    threads = [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]
    return np.array([float(WORKER.busy), *threads])


@worth_keeping
def slowly_drawn(values, seed, count):
    with open(count, "a") as stream:
        stream.write("called\n")
    drawn = np.random.default_rng(seed).standard_normal(len(values))
    return values + drawn, drawn
