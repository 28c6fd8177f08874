"""Prevents the import of a package that the gateway's packages would import, but never use.

`jsonschema` imports `rfc3987_syntax` if it is installed. That compiles 38 grammars, which takes two thirds of the
gateway's start and 20 MB, to check strings of the format `iri`. No schema of Jupyter's has such a string. Import this
module before Jupyter's packages.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

# Python raises ImportError for a module that is None here, as it does for a package that is not installed.
cast("dict[str, ModuleType | None]", sys.modules).setdefault("rfc3987_syntax", None)
