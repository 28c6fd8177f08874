"""Address and credentials of the Gemini API, from the settings."""

from __future__ import annotations

import hashlib
import json
import ssl
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from django.conf import settings
from google import genai
from google.genai import types


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials."""

    vertexai: bool
    api_key: str = field(repr=False)
    project: str
    location: str
    base_url: str
    """Empty: Google's own address."""
    api_version: str
    is_emulated: bool

    @classmethod
    def from_settings(cls) -> Access:
        """Read the settings. They are read for each request, because tests change them."""
        return cls(
            vertexai=settings.GOOGLE_GENAI_USE_VERTEXAI,
            api_key="emulated" if settings.GEMINI_EMULATED else settings.GEMINI_API_KEY,
            project=settings.GOOGLE_CLOUD_PROJECT,
            location=settings.GOOGLE_CLOUD_LOCATION,
            base_url=settings.GOOGLE_GEMINI_BASE_URL,
            api_version=settings.GEMINI_API_VERSION,
            is_emulated=settings.GEMINI_EMULATED,
        )

    @property
    def account(self) -> str:
        """SHA-256, in hex, of everything that determines which files and signatures are valid."""
        parts = ["gemini", self.base_url, self.vertexai, self.project, self.location, self.api_key]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def uses_credentials(self) -> bool:
        """Whether requests use the machine's credentials for a project of Vertex AI in place of a key."""
        return self.vertexai and bool(self.project)

    @property
    def may_be_proxied(self) -> bool:
        """Whether the environment names a proxy that may apply to requests to this address."""
        proxies = getproxies()
        if not self.base_url:
            # The SDK chooses the address, so any proxy may be used.
            return "http" in proxies or "https" in proxies
        address = urlsplit(self.base_url)
        return address.scheme in proxies and not proxy_bypass(address.hostname or "")

    def client(self, session: aiohttp.ClientSession | None, tls: ssl.SSLContext) -> genai.Client:
        """Return an SDK client that uses this session, sends each request once, and sets no time limit."""
        options = types.HttpOptions(
            base_url=self.base_url or None,
            api_version=self.api_version,
            # Without a session of ours, the SDK chooses a transport by what is installed.
            aiohttp_client=session,
            # Without a TLS context of ours, each client reads the certificates four times, 0.1 s in all.
            client_args={"verify": tls},
            async_client_args={"ssl": tls, "verify": tls},
            # Without options, a failed connect sleeps 1-10 s at random and is tried once more.
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        if self.uses_credentials:
            return genai.Client(vertexai=True, project=self.project, location=self.location, http_options=options)
        return genai.Client(vertexai=self.vertexai, api_key=self.api_key, http_options=options)
