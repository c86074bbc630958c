"""Who may address whom: a graph over the seats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import networkx as nx
from pydantic import BaseModel, ConfigDict

__all__ = ["Topology", "TopologySpec", "TOPOLOGIES"]


@dataclass(frozen=True)
class Topology:
    """An undirected graph whose edges are the pairs of seats that may address each other.

    Build one from any networkx graph, from edges, or by a named constructor.

    Attributes:
        seats: Number of seats.
        edges: Pairs `(a, b)` with `a < b`, sorted.
        name: For people and for the trace.
    """

    seats: int
    edges: tuple[tuple[int, int], ...]
    name: str = field(default="custom", compare=False)

    def __post_init__(self) -> None:
        for a, b in self.edges:
            if not (0 <= a < self.seats and 0 <= b < self.seats) or a == b:
                raise ValueError(
                    f"topology edge ({a}, {b}) does not join two different seats of 0..{self.seats - 1}; "
                    "name seats that exist"
                )

    @classmethod
    def from_edges(cls, seats: int, edges: Iterable[Sequence[int]], name: str = "custom") -> Topology:
        """From pairs of seats, in any order and with repeats."""
        pairs = {(min(edge[0], edge[1]), max(edge[0], edge[1])) for edge in edges}
        return cls(seats, tuple(sorted(pairs)), name)

    @classmethod
    def from_graph(cls, graph: nx.Graph, name: str = "custom") -> Topology:  # type: ignore[type-arg]
        """From a networkx graph; its nodes, sorted where possible, become seats 0, 1, ..."""
        nodes = list(graph.nodes)
        with suppress(TypeError):
            nodes = sorted(nodes)
        seat = {node: index for index, node in enumerate(nodes)}
        edges = ((seat[a], seat[b]) for a, b in graph.edges if a != b)
        return cls.from_edges(len(nodes), edges, name)

    @classmethod
    def complete(cls, seats: int) -> Topology:
        """Everyone may address everyone."""
        return cls(seats, tuple(combinations(range(seats), 2)), "complete")

    @classmethod
    def ring(cls, seats: int) -> Topology:
        """Each seat may address its two neighbours."""
        return cls.from_edges(seats, nx.cycle_graph(seats).edges if seats > 2 else nx.path_graph(seats).edges, "ring")

    @classmethod
    def path(cls, seats: int) -> Topology:
        """A line: the ring without the edge that closes it."""
        return cls.from_edges(seats, nx.path_graph(seats).edges, "path")

    @classmethod
    def star(cls, seats: int) -> Topology:
        """Seat 0 may address everyone, the others seat 0 only."""
        return cls.from_edges(seats, ((0, other) for other in range(1, seats)), "star")

    @classmethod
    def clusters(cls, seats: int, size: int = 3) -> Topology:
        """Complete groups of `size` neighbours, each joined to the next by one edge."""
        if size < 1:
            raise ValueError(f"topology clusters: size {size} is below 1; give a group size of 1 or more")
        starts = range(0, seats, size)
        edges = [
            (a, b) for s in starts for a in range(s, min(s + size, seats)) for b in range(a + 1, min(s + size, seats))
        ]
        edges += [(s - 1, s) for s in starts if s > 0]
        return cls.from_edges(seats, edges, "clusters")

    @classmethod
    def random(cls, seats: int, p: float = 0.5, seed: int = 0) -> Topology:
        """Each pair is joined with probability `p`, drawn from `seed`."""
        if not 0 <= p <= 1:
            raise ValueError(f"topology random: p {p} is not a probability; give a number from 0 to 1")
        return cls.from_edges(seats, nx.gnp_random_graph(seats, p, seed=seed).edges, "random")

    @cached_property
    def _neighbours(self) -> tuple[tuple[int, ...], ...]:
        found: list[set[int]] = [set() for _ in range(self.seats)]
        for a, b in self.edges:
            found[a].add(b)
            found[b].add(a)
        return tuple(tuple(sorted(others)) for others in found)

    def neighbours(self, seat: int) -> tuple[int, ...]:
        """The seats that `seat` may address, ascending."""
        return self._neighbours[seat]

    def allows(self, sender: int, to: int) -> bool:
        """Whether `sender` may address `to`. A seat that does not exist is never allowed."""
        return 0 <= sender < self.seats and to in self._neighbours[sender]

    @property
    def graph(self) -> nx.Graph:  # type: ignore[type-arg]
        """The same as a networkx graph, to measure or to draw."""
        graph: nx.Graph = nx.Graph(self.edges)  # type: ignore[type-arg]
        graph.add_nodes_from(range(self.seats))
        return graph


TOPOLOGIES: Mapping[str, Callable[..., Topology]] = {
    "complete": Topology.complete,
    "ring": Topology.ring,
    "path": Topology.path,
    "star": Topology.star,
    "clusters": Topology.clusters,
    "random": Topology.random,
}


class TopologySpec(BaseModel):
    """A topology as a config file names it.

    Attributes:
        name: One of the named constructors, or `edges`.
        size: Group size, for `clusters`.
        p: Probability of an edge, for `random`.
        seed: Seed of the draw, for `random`.
        edges: Pairs of seats, for `edges`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "complete"
    size: int | None = None
    p: float | None = None
    seed: int | None = None
    edges: tuple[tuple[int, int], ...] = ()

    def build(self, seats: int) -> Topology:
        """The topology over `seats` seats.

        Raises:
            ValueError: If the name is unknown or a parameter does not belong to it.
        """
        if self.name == "edges":
            return Topology.from_edges(seats, self.edges)
        if self.name not in TOPOLOGIES:
            raise ValueError(f"topology {self.name!r} is unknown; use one of {', '.join([*TOPOLOGIES, 'edges'])}")
        given = {key: value for key in ("size", "p", "seed") if (value := getattr(self, key)) is not None}
        takes = {"clusters": {"size"}, "random": {"p", "seed"}}.get(self.name, set())
        if strange := sorted(set(given) - takes):
            raise ValueError(f"topology {self.name!r} takes no {strange[0]!r}; remove it")
        return TOPOLOGIES[self.name](seats, **given)
