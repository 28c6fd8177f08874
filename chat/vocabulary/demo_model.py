"""The demo model, which stands in for Gemini's models where no key is configured."""

from __future__ import annotations

DEMO_MODEL = "plotline-demo"
"""The id of the demo model. The catalogue has this id wherever the demo model stands in for another model."""
