"""`placement`: words, objects, clients and addresses, and how many blocks they make."""

import numpy as np
import pytest
from sklearn.base import clone

import vbdm
from vbdm.errors import InputError
from vbdm.placement import Dask, Disk, Memory, as_placement, in_words

pytestmark = pytest.mark.blocks


@pytest.fixture(scope="module")
def points():
    return vbdm.datasets.circle(2000, sampling="random", random_state=0).points


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("auto", None),
        ("memory", Memory()),
        ("disk", Disk()),
        ("tcp://10.0.0.7:8786", Dask("tcp://10.0.0.7:8786")),
        ("tls://login-node:8786", Dask("tls://login-node:8786")),
        ("inproc://10.0.0.7/1/2", Dask("inproc://10.0.0.7/1/2")),
        ("localhost:8786", Dask("localhost:8786")),
        (Memory(blocks=3), Memory(blocks=3)),
    ],
)
def test_words_addresses_and_objects(value, expected):
    assert as_placement(value) == expected


@pytest.mark.parametrize("value", [None, "ram", "/scratch", "C:disk", 3, True, Memory, np.ones(3)])
def test_anything_else_is_refused(value, points):
    with pytest.raises(InputError, match="`placement` says where the rows live"):
        vbdm.estimate_operator(points, run=vbdm.Run(placement=value))


def test_a_client_is_known_without_loading_dask():
    kind = type("Client", (), {"__module__": "distributed.client"})
    client = kind()
    assert as_placement(client) == Dask(client)


@pytest.mark.parametrize("kind", [Memory, Disk, Dask])
@pytest.mark.parametrize("blocks", [0, -1, 2.5, "many", True])
def test_numbers_of_blocks_are_counted(kind, blocks):
    with pytest.raises(InputError, match="`blocks`"):
        kind(blocks=blocks)


def test_the_scratch_folder_must_be_there(tmp_path):
    Disk(scratch=tmp_path)
    for folder in (tmp_path / "missing", 3, "a\0b"):
        with pytest.raises(InputError, match="`scratch` must be a folder"):
            Disk(scratch=folder)


def test_blocks_are_neither_too_many_nor_too_large():
    assert Memory().rows(1000, 2) is None
    assert Memory(blocks=3).rows(1000, 2).n_blocks == 3
    assert Disk().rows(1000, 2).n_blocks == 1
    assert Disk().rows(70_000, 2).n_blocks == 2
    assert Disk().rows(10**7, 2).n_blocks == 167
    assert Disk(blocks=5).rows(1000, 2).n_blocks == 5


def test_words_for_reports():
    assert in_words(None) == "in memory"
    assert in_words(Disk(blocks=1).rows(1000, 2)) == "1 block on disk"
    assert in_words(Memory(blocks=3).rows(1000, 2)) == "3 blocks in memory"


def test_results_say_where_the_rows_lived(points, tmp_path):
    spectrum = vbdm.estimate_operator(points, run=vbdm.Run(placement=Disk(blocks=3))).spectrum(3)
    assert repr(spectrum.operator).endswith(", 3 blocks on disk)")
    assert spectrum.settings.placement == "3 blocks on disk"
    assert spectrum.settings.as_dict()["placement"] == "3 blocks on disk"
    assert "placement" in spectrum.settings.given
    assert "in 3 blocks on disk" in vbdm.report.methods_paragraph(spectrum)
    plain = vbdm.estimate_operator(points).spectrum(3)
    assert plain.settings.placement == "in memory"
    assert "block" not in vbdm.report.methods_paragraph(plain)
    plain.save(tmp_path / "model.vbdm")
    assert vbdm.load(tmp_path / "model.vbdm").settings.placement == "in memory"


def test_a_client_inside_a_placement_survives_a_copy_by_scikit_learn():
    def refused(client, memo):
        raise TypeError("clients cannot be copied")

    client = type("Client", (), {"__module__": "distributed.client", "__deepcopy__": refused})()
    assert clone(vbdm.DiffusionMap(run=Dask(client))).run.client is client


@pytest.mark.parametrize("client", [3, True, b"tcp://here:1", np.ones(2)])
def test_anything_but_a_client_is_refused(client):
    with pytest.raises(InputError, match="`client` must be a client of Dask"):
        Dask(client)


@pytest.mark.parametrize("store", [3, b"folder", "a\0b", ["folder"]])
def test_anything_but_a_folder_is_no_store(store):
    with pytest.raises(InputError, match="`store` must be the path of a file or folder"):
        Dask(store=store)


def test_a_given_graph_is_refused_without_a_look_at_the_cluster(points):
    graph = vbdm.neighbors(points, 64)
    for placement in (Dask("tcp://127.0.0.1:9"), Disk(blocks=2), Memory(blocks=2)):
        with pytest.raises(InputError, match="Lists of neighbours cannot be had"):
            vbdm.estimate_operator(graph, run=vbdm.Run(placement=placement))
    vbdm.estimate_operator(graph, run=vbdm.Run(placement=Memory()))


def test_the_estimator_takes_it_too(points):
    model = vbdm.DiffusionMap(run=vbdm.Run(placement=Memory(blocks=3))).fit(points)
    assert model.operator_.settings.placement == "3 blocks in memory"


def test_coordinates_in_blocks_are_those_in_memory(points):
    models = [
        vbdm.DiffusionMap(
            n_components=2, diffusion_time=0.3, run=vbdm.Run(placement=placement)
        ).fit(points)
        for placement in (Memory(), Disk(blocks=2))
    ]
    whole, on_disk = (model.embedding_ for model in models)
    assert isinstance(on_disk, np.ndarray)
    signs = np.sign((whole * on_disk).sum(axis=0))
    np.testing.assert_allclose(on_disk * signs, whole, atol=1e-6 * np.abs(whole).max())


@pytest.mark.parametrize("n_workers", [0, -1, 2.5, "two", None])
def test_numbers_of_workers_are_counted(n_workers):
    with pytest.raises(InputError, match="`n_workers`"):
        vbdm.placement.start_workers(n_workers)
