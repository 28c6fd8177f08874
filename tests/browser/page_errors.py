"""Collects the errors of pages: logged errors, exceptions, and violations of the content security policy."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, ConsoleMessage, Page

REPORT_CSP = """
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile }) => {
  console.error(`content security policy: ${violatedDirective} ${blockedURI} ${sourceFile}`);
});
"""


#: Chromium logs a response with status 400 as an error, but the product sends it with a message for the user.
REFUSED_INPUT = "status of 400"
#: htmx logs a request of the search as an error when the person types on, or leaves the page, before its response.
ABORTED_REQUEST = "signal is aborted without reason|The operation was aborted"
#: htmx logs a socket whose handshake was cut off because the page is left.
CUT_OFF_SOCKET = r"htmx:ws:error: \[object Event\]"
ORDINARY = (REFUSED_INPUT, ABORTED_REQUEST, CUT_OFF_SOCKET)

#: Chromium's names of errors of a connection. Which of them a page logs depends on what it did when the server ended:
#: connecting, waiting for a response, or reading one. Names such as ERR_BLOCKED_BY_CSP are not among them.
CONNECTION_ERRORS = (
    r"net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH|SOCKET_NOT_CONNECTED"
    r"|NETWORK_CHANGED|TIMED_OUT|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED|INVALID_HTTP_RESPONSE|FAILED)\b"
)
#: The words of Chromium and of Firefox.
REFUSED_SOCKET = "WebSocket connection to .* failed|Firefox can’t establish a connection to the server at ws"
LOST_SERVER = (
    CONNECTION_ERRORS,
    "htmx:ws:error",
    REFUSED_SOCKET,
    "Failed to fetch|NetworkError when attempting to fetch",
)


class Watch:
    """The errors of all pages of a browser during one test."""

    def __init__(self) -> None:
        """Expect only the errors that are always ignored."""
        self._errors: list[str] = []
        self._expected = [*ORDINARY]
        self._windows: list[BrowserContext] = []

    def expect(self, *patterns: str) -> None:
        """Ignore errors that contain a match of one of these regular expressions, until the test ends."""
        self._expected += patterns

    def expect_lost_server(self) -> None:
        """Ignore all errors of connections until the test ends: the test kills, stops or restarts a server."""
        self.expect(*LOST_SERVER)

    def take_errors(self) -> list[str]:
        """Return the unexpected errors, and empty the list."""
        errors = [error for error in self._errors if not any(re.search(one, error) for one in self._expected)]
        self._errors, self._expected = [], [*ORDINARY]
        return errors

    def add(self, window: BrowserContext) -> None:
        """Watch all pages of a window."""
        self._windows.append(window)
        window.on("close", lambda closed: self._windows.remove(closed))
        # Adding the script waits for the browser, and pages may open meanwhile, so the listener is added first.
        window.on("page", self._add_page)
        window.add_init_script(REPORT_CSP)

    def open_windows(self) -> list[BrowserContext]:
        """Return the windows that are open now."""
        return [*self._windows]

    def close_windows(self, others: list[BrowserContext]) -> None:
        """Close the open windows except `others`, so that later errors of their pages do not fail the next test."""
        for window in self.open_windows():
            if window not in others:
                window.close()

    def _add_page(self, page: Page) -> None:
        page.on("pageerror", lambda error: self._errors.append(f"{page.url}: {error}"))
        page.on("console", self._add_message)

    def _add_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._errors.append(f"{message.location['url']}: {message.text}")
