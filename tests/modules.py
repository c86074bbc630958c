"""Modules that a test or a document writes, and that no other one shall meet."""

import sys
import tempfile
from pathlib import Path

_PROJECT = str(Path(__file__).parents[1])


def forget_temporary_modules() -> None:
    """Free the names of modules that were imported from temporary files."""
    temporary = tempfile.gettempdir()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        is_temporary = file.startswith(temporary) and not file.startswith(_PROJECT)
        if is_temporary and not name.startswith("_cheaptalk_file_"):  # such a name no other file has
            del sys.modules[name]
