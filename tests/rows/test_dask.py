"""Blocks on a cluster: the same numbers as in memory, lost workers or not, and errors in words."""

import os
import pickle
import subprocess
import sys
import time
import warnings
from concurrent.futures import CancelledError
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support import tasks

import vbdm
from vbdm.placement import Dask
from vbdm.rows import cluster as cluster_module
from vbdm.rows.block_array import PerBlock, Rows, mapped, overwrite, total
from vbdm.rows.cluster import (
    check_memory,
    check_versions,
    check_workers,
    connect,
    current_client,
    divide,
)
from vbdm.rows.dask import OnDask
from vbdm.rows.place import Partition
from vbdm.rows.workers import Store, closing

pytestmark = pytest.mark.blocks

PARTITION = Partition.into(6000, 5)
X = np.random.default_rng(0).standard_normal((6000, 20))


def sent_by(dask_worker):
    """Return the bytes that a worker has sent; Dask passes the worker, by the argument's name."""
    return dask_worker.transfer_outgoing_bytes_total


@pytest.fixture
def rows(cluster):
    return Rows(PARTITION, OnDask(cluster, PARTITION))


def test_values_sums_and_changes_are_those_in_memory(rows):
    x, ours = rows.spread(X), Rows(PARTITION).spread(X)
    assert np.array_equal(x, X)
    assert np.array_equal(mapped(tasks.doubled, x), 2 * X)
    assert np.array_equal(total(tasks.gram, x), total(tasks.gram, ours))
    first, others = mapped(tasks.both, x, n_results=2)
    assert np.array_equal(first, X[:, 0] + 1)
    assert np.array_equal(others, 2 * X[:, 1:])
    (y,), sums = overwrite(tasks.shifted, [x], 3.0, summed=True)
    assert np.array_equal(y, X + 3)
    assert np.array_equal(
        sums, overwrite(tasks.shifted, [Rows(PARTITION).spread(X + 0)], 3.0, summed=True)[1]
    )
    assert np.array_equal(x, X)  # a task works on copies, so that it can be repeated
    assert np.array_equal(x[[5, 5999, 17]], X[[5, 5999, 17]])
    assert np.array_equal(x[:, 3], X[:, 3])
    assert rows.place.words == "on 2 workers"


def test_results_on_a_cluster_refuse_to_be_pickled(rows):
    with pytest.raises(vbdm.InputError, match="by pickle cannot be had"):
        pickle.dumps(rows)


def test_an_argument_for_all_blocks_and_one_for_each(rows):
    x, shared = rows.spread(X), np.full((500, 20), 7.0)
    y = mapped(tasks.plus, x, shared, PerBlock(range(5)))
    assert np.array_equal(y, X + 7 + PARTITION.block_of(np.arange(6000))[:, None])


def test_a_task_keeps_to_one_core(rows):
    (found,) = rows.run(tasks.state, rows.spread(X))
    for state in rows.place.read(found):
        assert set(state) == {1.0}


def test_nothing_drags_the_rest_along(cluster, rows):
    """Of two results, one alone is sent to whoever asks for it; blocks stay at home."""
    x = rows.spread(X)
    first, _ = mapped(tasks.both, x, n_results=2)
    before = sum(cluster.run(sent_by).values())
    np.asarray(first)
    after = sum(cluster.run(sent_by).values())
    assert after - before < 2 * X[:, 0].nbytes
    homes = dict(cluster.who_has(x.handles))
    assert [homes[handle.key][0] for handle in x.handles] == rows.place.homes.addresses


def test_progress_is_told_as_blocks_finish(rows):
    x, seen = rows.spread(X), []
    with vbdm.progress.listening(lambda step: seen.append((step.done, time.monotonic()))):
        mapped(tasks.slow, x, 0.2, stage="waiting")
    assert [done for done, _ in seen] == [1, 2, 3, 4, 5]
    assert seen[-1][1] - seen[0][1] > 0.2


def test_a_killed_worker_changes_nothing_and_is_told_once(cluster, rows):
    x = rows.spread(X)
    (y,), _ = overwrite(tasks.shifted, [mapped(tasks.doubled, x)], 1.0)
    np.asarray(y)
    z = mapped(tasks.slow, y, 0.2)
    tasks.kill_one(cluster)
    with pytest.warns(vbdm.errors.ClusterWarning, match="A worker was lost") as caught:
        sums = total(tasks.gram, z)
    assert len(caught) == 1
    assert np.array_equal(sums, total(tasks.gram, Rows(PARTITION).spread(2 * X + 1 + 1)))
    cluster.wait_for_workers(2, timeout=30)
    rows.place.homes.look()
    assert set(rows.place.homes.addresses) == set(cluster.scheduler_info()["workers"])


def test_a_cluster_that_stumbles_at_its_end_is_closed_all_the_same():
    """Dask looks up workers that were lost and replaced, and may not find them."""
    told = []

    class Stumbling:
        def close(self):
            told.append("closed")
            raise KeyError("tcp://127.0.0.1:1")

    with pytest.raises(ValueError, match="of the block"), closing(Stumbling()):
        raise ValueError("of the block")
    with closing(Stumbling()) as cluster:
        assert isinstance(cluster, Stumbling)
    assert told == ["closed", "closed"]


def test_an_error_of_a_function_is_raised_here_and_stops_the_rest(cluster, rows):
    x = rows.spread(X)
    with pytest.raises(ValueError, match="on purpose"):
        total(tasks.failing, x)


def allow_failures(client, n):
    """Let a task end so many workers; Dask's own number, 3, takes long to reach."""

    def allow(dask_scheduler):
        dask_scheduler.allowed_failures = n

    client.run_on_scheduler(allow)


@pytest.fixture
def _impatient(cluster):
    allow_failures(cluster, 0)
    yield
    allow_failures(cluster, 3)


@pytest.mark.usefixtures("_impatient")
def test_blocks_that_end_every_worker(rows):
    words = r"5 blocks of about 1,200 rows.* with .* GB.*Pass more `blocks`"
    with pytest.raises(vbdm.errors.ClusterError, match=words):
        total(tasks.deadly, rows.spread(X)[:, :2])


def test_a_worker_without_memory(rows):
    with pytest.raises(vbdm.errors.ClusterError, match="no memory left: 5 blocks"):
        total(tasks.without_memory, rows.spread(X))


def test_memory_is_checked_beforehand(cluster):
    limit = min(worker["memory_limit"] for worker in cluster.scheduler_info()["workers"].values())
    check_memory(cluster, limit // 10, 4)
    with pytest.raises(vbdm.errors.ClusterError, match="8 blocks for 2 workers: about"):
        check_memory(cluster, limit // 5, 8)
    with pytest.raises(vbdm.errors.ClusterError, match="16 blocks for 2 workers"):
        Dask(cluster).rows(10**9, 3)
    n_points = limit // 4000
    Dask(cluster).rows(n_points, 3)
    with pytest.raises(vbdm.errors.ClusterError, match="pass a smaller `effort`"):
        Dask(cluster).rows(n_points, 3, effort=16.0)


def test_a_dead_address_is_told_after_seconds(monkeypatch):
    monkeypatch.setattr("vbdm.rows.cluster.PATIENCE", 1.0)
    words = "answered within 1 seconds; received 'tcp://127.0.0.1:9'.*dask scheduler"
    with pytest.raises(vbdm.errors.ClusterError, match=words):
        connect("tcp://127.0.0.1:9")


def test_estimates_with_an_address_share_one_client(cluster):
    from distributed import Client

    points, seen = vbdm.datasets.circle(2000).points, set()
    address = cluster.scheduler.address
    assert connect(address) is cluster  # the current one
    short = address.removeprefix("tcp://")
    for _ in range(3):
        op = vbdm.estimate_operator(points, dim=1, run=vbdm.Run(placement=Dask(short, blocks=2)))
        seen.add(op.graph.point_set.rows.place.client)
    (client,) = seen
    client.close()
    with pytest.raises(vbdm.errors.ClusterError, match=r"a client that is closed.*connect again"):
        vbdm.estimate_operator(points, run=vbdm.Run(placement=client))
    with Client(cluster.scheduler.address) as other:
        assert connect(short) is not client
        assert connect(address).status == other.status == "running"
        connect(short).close()


def test_a_scheduler_that_does_not_answer(cluster, monkeypatch):
    def broken(*args, **options):
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(cluster, "run", broken)
    with pytest.raises(vbdm.errors.ClusterError, match=r"OSError: Timed out .*scheduler's log"):
        check_workers(cluster)
    monkeypatch.setattr(cluster, "status", "connecting")
    with pytest.raises(
        vbdm.errors.ClusterError, match="connecting, as its scheduler does not answer"
    ):
        check_workers(cluster)


def test_workers_like_this_process_are_accepted(cluster):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_workers(cluster)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numpy": "1.2.3"}, r"worker w: numpy 1.2.3 \(here"),
        ({"vbdm": None}, r"vbdm is missing \(here"),
        ({"python": "3.8.1", "scipy": None}, r"python 3.8.1 .* scipy is missing"),
    ],
)
def test_other_versions_on_workers_are_refused(change, words):
    there = {**cluster_module.asking()()[0], **change}
    there = {name: version for name, version in there.items() if version}
    with pytest.raises(vbdm.errors.ClusterError, match=words):
        check_versions({"w": there})


def test_other_patches_of_python_are_accepted():
    here = cluster_module.asking()()[0]
    check_versions({"w": {**here, "python": here["python"].rpartition(".")[0] + ".99"}})


def test_workers_that_waste_time_on_memory(cluster, monkeypatch):
    slow = cluster_module.asking()()[0], cluster_module.SLOW_MALLOC
    monkeypatch.setattr(cluster, "run", lambda function: {"w": slow})
    with pytest.warns(vbdm.errors.ClusterWarning, match="MALLOC_TRIM_THRESHOLD_=134217728"):
        check_workers(cluster)


def test_a_scheduler_without_workers(cluster, monkeypatch):
    monkeypatch.setattr(cluster_module, "workers_of", lambda client: {})
    with pytest.raises(vbdm.errors.ClusterError, match="without any"):
        check_workers(cluster)


def test_all_workers_gone_for_long(rows, monkeypatch):
    monkeypatch.setattr(cluster_module, "workers_of", lambda client: {})
    monkeypatch.setattr(cluster_module, "ALL_GONE", 0.5)
    with pytest.raises(vbdm.errors.ClusterError, match="none of 2 workers left"):
        np.asarray(mapped(tasks.slow, rows.spread(X), 1.0))


def test_a_version_of_dask_without_our_parts(rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask._task_spec", None)
    with pytest.raises(
        vbdm.errors.ClusterError, match=r"dask 20\d\d.*pip install 'vbdm\[cluster\]'"
    ):
        rows.spread(X)


def test_a_cluster_must_be_there_and_wait_for_results(monkeypatch):
    with pytest.raises(vbdm.errors.ClusterError, match="asynchronous=True"):
        check_workers(SimpleNamespace(asynchronous=True))
    monkeypatch.setattr(cluster_module, "current_client", lambda: None)
    with pytest.raises(vbdm.errors.ClusterError, match="no client, and Dask has no current one"):
        cluster_module.client_of(None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert current_client() is None
    with pytest.raises(ImportError, match=r"pip install 'vbdm\[cluster\]'"):
        cluster_module.client_of(None)


def test_what_a_worker_does_not_have_is_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    found, _ = cluster_module.asking()()
    assert "numba" not in found
    assert found["numpy"] == np.__version__


def test_tasks_whose_home_is_gone_may_run_elsewhere():
    bound = SimpleNamespace(loose_restrictions=False, worker_restrictions={"a"})
    loose = SimpleNamespace(loose_restrictions=True, worker_restrictions={"a"})
    told = []
    scheduler = SimpleNamespace(
        unrunnable=[bound, loose],
        workers={"b": "worker b"},
        bulk_schedule_unrunnable_after_adding_worker=lambda worker: f"tasks for {worker}",
        transitions=lambda ready, why: told.append(ready),
    )
    cluster_module.letting_go()(scheduler)
    assert (bound.worker_restrictions, loose.worker_restrictions) == ({"a"}, set())
    assert told == ["tasks for worker b"]


def test_a_broken_connection_is_told_as_such():
    found = cluster_module.failure_in_words(CancelledError("task-7"), None)
    assert "must stay until the work is done" in str(found)
    assert "CancelledError: task-7" in str(found)
    assert cluster_module.failure_in_words(ValueError("of a block"), None) is None


def test_a_store_that_one_worker_does_not_see(tmp_path):
    seen = {"tcp://1": True, "tcp://2": False}
    client = SimpleNamespace(status="running", run=lambda function, mark: seen)
    with pytest.raises(vbdm.errors.ClusterError, match="which tcp://2 does not have"):
        Store(tmp_path).check(client)
    assert list(tmp_path.iterdir()) == []


def test_homes_are_moved_no_more_than_needed():
    assert divide(5, ["a", "b"], []) == ["a", "a", "a", "b", "b"]
    assert divide(5, ["b"], ["a", "a", "a", "b", "b"]) == ["b"] * 5
    assert divide(5, ["b", "c"], ["b"] * 5) == ["b", "b", "b", "c", "c"]
    assert divide(2, ["a", "b", "c"], ["a", "d"]) == ["a", "b"]


INTERRUPTED = """
import os, signal, sys, threading
from vbdm.rows.workers import start_workers
from vbdm.rows.dask import OnDask
from vbdm.rows.block_array import Rows, mapped
from vbdm.rows.place import Partition
from tests.support import tasks
from tests.support.waiting import until
import numpy as np
if __name__ == "__main__":
    with start_workers(1) as client:
        print(*client.run(os.getpid).values(), flush=True)
        partition = Partition.into(100, 2)
        rows = Rows(partition, OnDask(client, partition))

        def interrupt():
            until(lambda: any(client.processing().values()))
            os.killpg(0, signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            np.asarray(mapped(tasks.slow, rows.spread(np.ones((100, 200))), 60.0))
        except KeyboardInterrupt:
            print(len([f for f in client.futures.values() if f.status == "pending"]), flush=True)
            raise
"""


def test_an_interruption_leaves_no_process_and_no_file(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    folder = tmp_path / "tmp"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, start_new_session=True,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    pid, n_pending = map(int, done.stdout.split())
    assert "KeyboardInterrupt" in done.stderr
    assert n_pending == 0
    assert list(folder.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
