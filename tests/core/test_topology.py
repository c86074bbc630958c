"""Who may address whom, against networkx and against plain definitions."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework import Topology, TopologySpec

seat_counts = st.integers(0, 12)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """A number of seats and pairs of different seats, in any order and with repeats."""
    seats = draw(st.integers(1, 10))
    seat = st.integers(0, seats - 1)
    pairs = draw(st.lists(st.tuples(seat, seat), max_size=30))
    return seats, [(a, b) for a, b in pairs if a != b]


@given(graphs())
def test_to_be_a_neighbour_is_mutual_and_is_what_the_edges_say(drawn: tuple[int, list[tuple[int, int]]]):
    seats, pairs = drawn
    topology = Topology.from_edges(seats, pairs)
    for a in range(seats):
        assert topology.neighbours(a) == tuple(b for b in range(seats) if (a, b) in pairs or (b, a) in pairs)
        for b in range(seats):
            assert topology.allows(a, b) == (b in topology.neighbours(a)) == topology.allows(b, a)
        assert not topology.allows(a, a)


@given(graphs())
def test_a_topology_from_a_graph_has_its_adjacency_and_gives_it_back(drawn: tuple[int, list[tuple[int, int]]]):
    seats, pairs = drawn
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(seats))
    topology = Topology.from_graph(graph)
    assert topology.seats == seats
    assert {seat: set(topology.neighbours(seat)) for seat in range(seats)} == {
        seat: set(graph.adj[seat]) for seat in range(seats)
    }
    assert nx.utils.graphs_equal(topology.graph, graph)


def test_nodes_of_any_kind_become_seats_in_their_order():
    assert Topology.from_graph(nx.Graph([("c", "a"), ("a", "b")])).edges == ((0, 1), (0, 2))
    assert Topology.from_graph(nx.Graph([(10, "x"), ("x", 5)])).edges == ((0, 1), (1, 2))
    assert Topology.from_graph(nx.Graph([(0, 0), (0, 1)])).edges == ((0, 1),)


@given(seat_counts)
def test_complete_joins_all(seats: int):
    topology = Topology.complete(seats)
    assert topology.edges == tuple((a, b) for a in range(seats) for b in range(a + 1, seats))


@given(seat_counts)
def test_a_ring_joins_each_seat_to_the_next_and_a_path_leaves_it_open(seats: int):
    steps = {tuple(sorted((a, (a + 1) % seats))) for a in range(seats)} - {(a, a) for a in range(seats)}
    assert set(Topology.ring(seats).edges) == steps
    assert set(Topology.path(seats).edges) == {(a, a + 1) for a in range(seats - 1)}


@given(seat_counts)
def test_a_star_joins_seat_0_to_all_others(seats: int):
    assert Topology.star(seats).edges == tuple((0, other) for other in range(1, seats))


@given(st.integers(1, 14), st.integers(1, 5))
def test_clusters_are_complete_groups_with_one_edge_to_the_next(seats: int, size: int):
    topology = Topology.clusters(seats, size)
    for a in range(seats):
        for b in range(a + 1, seats):
            same = a // size == b // size
            bridge = b == a + 1 and b % size == 0
            assert topology.allows(a, b) == (same or bridge)
    assert nx.is_connected(topology.graph)


@given(st.integers(1, 12), st.integers(0, 5))
def test_random_is_drawn_from_its_seed_alone(seats: int, seed: int):
    assert Topology.random(seats, 0.5, seed) == Topology.random(seats, 0.5, seed)
    assert Topology.random(seats, 0.0, seed).edges == ()
    assert Topology.random(seats, 1.0, seed) == Topology.complete(seats)


def test_a_seat_that_does_not_exist_is_never_allowed():
    topology = Topology.complete(3)
    for strange in (-1, -2, 3, 10**9):
        assert not topology.allows(0, strange)
        assert not topology.allows(strange, 0)


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0), (1, 1)])
def test_an_edge_that_joins_no_two_seats_is_refused(edge: tuple[int, int]):
    with pytest.raises(ValueError, match=r"topology edge .* does not join two different seats of 0\.\.2"):
        Topology.from_edges(3, [edge])


SPECS = [
    (TopologySpec(), Topology.complete(5)),
    (TopologySpec(name="ring"), Topology.ring(5)),
    (TopologySpec(name="path"), Topology.path(5)),
    (TopologySpec(name="star"), Topology.star(5)),
    (TopologySpec(name="clusters", size=2), Topology.clusters(5, 2)),
    (TopologySpec(name="random", p=0.3, seed=4), Topology.random(5, 0.3, 4)),
    (TopologySpec(name="edges", edges=((1, 0), (3, 4))), Topology.from_edges(5, [(0, 1), (3, 4)])),
]


@pytest.mark.parametrize(("spec", "topology"), SPECS)
def test_a_config_names_a_topology(spec: TopologySpec, topology: Topology):
    assert spec.build(5) == topology
    assert TopologySpec.model_validate_json(spec.model_dump_json()) == spec


BAD_SPECS = [
    (TopologySpec(name="circle"), "topology 'circle' is unknown; use one of complete, ring"),
    (TopologySpec(name="ring", size=3), "topology 'ring' takes no 'size'; remove it"),
    (TopologySpec(name="clusters", size=0), "topology clusters: size 0 is below 1"),
    (TopologySpec(name="random", p=1.5), "topology random: p 1.5 is not a probability"),
    (TopologySpec(name="edges", edges=((0, 9),)), r"topology edge \(0, 9\) does not join"),
]


@pytest.mark.parametrize(("spec", "error"), BAD_SPECS)
def test_a_config_that_names_none_says_what_is_wrong(spec: TopologySpec, error: str):
    with pytest.raises(ValueError, match=error):
        spec.build(5)
