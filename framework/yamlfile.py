"""YAML as people write it in the files that they hand in: one mapping, no key twice, nothing without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import yaml

from framework.errors import UserError

__all__ = ["read_mapping"]

_MOST_REPEATED = 1_000_000
"""Values that anchors and aliases may stand for in one file."""


class _Loader(yaml.SafeLoader):
    """Refuses what a plain loader takes in silence, before anything is built of it."""

    def get_single_node(self) -> Any:
        node = super().get_single_node()
        sizes: dict[int, int] = {}
        if node is not None and _size(node, sizes) > len(sizes) + _MOST_REPEATED:
            _refuse(f"its aliases stand for more than {_MOST_REPEATED:,} values", node)
        return node


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """How many values a node stands for, each alias counted in full; 0 in `sizes` while that is being found."""
    known = sizes.get(id(node))
    if known == 0:
        _refuse("an alias stands within its own anchor", node)
    if known is not None:
        return known
    sizes[id(node)] = 0
    found = 1
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)
        found += sum(_size(key, sizes) + _size(value, sizes) for key, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        found += sum(_size(item, sizes) for item in node.value)
    sizes[id(node)] = found
    return found


def _check_keys(node: yaml.MappingNode) -> None:
    written: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if (key.tag, key.value) in written:
            _refuse(f"the key {key.value!r} is there twice; keep one of them", key)
        written.add((key.tag, key.value))


def _refuse(why: str, node: yaml.Node) -> NoReturn:
    raise yaml.composer.ComposerError(None, None, why, node.start_mark)


def read_mapping(path: Path, what: str, place: str = "") -> dict[Any, Any]:
    """Read a file that holds one mapping.

    Args:
        path: The file.
        what: What it is, for the sentence about a file that holds something else, such as `an experiment is`.
        place: How sentences name the file; its path by default.

    Raises:
        UserError: If the file cannot be read, is not YAML, holds a key twice, or holds something else.
    """
    place = place or str(path)
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UserError(f"{place}: {error.strerror}; check the path") from error
    except RecursionError as error:
        raise UserError(f"{place}: it is nested too deeply; write it flatter") from error
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{place}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise UserError(f"{place}: {what}; write keys and values")
    return data
