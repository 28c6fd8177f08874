"""The names of the tools that a provider runs itself."""

from __future__ import annotations

CODE_EXECUTION = "code_execution"
WEB_SEARCH = "web_search"
URL_CONTEXT = "url_context"
