"""The bootstrap script works without the project, which is not visible in the sandbox."""

from __future__ import annotations

import runpy

from tests.environment import ROOT


def test_bootstrap_imports_no_module_of_the_project() -> None:
    path = ROOT / "chat/python/kernels/bootstrap.py"
    source = path.read_text()
    assert "chat" not in source
    assert "django" not in source
    assert runpy.run_path(str(path))["LIMITS"]
