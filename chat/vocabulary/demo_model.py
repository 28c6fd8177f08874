"""The demo model, which stands in for Gemini's models where no key is configured."""

from __future__ import annotations

DEMO_MODEL = "plotline-demo"
"""The id of the demo model. The catalogue names it wherever it stands in for another model."""
