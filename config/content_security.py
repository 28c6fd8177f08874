"""The content security policy of every page."""

from csp.constants import NONE, SELF

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        # `data:` is for SVG pictures that code drew, see `chat/page/rendering/svg.py`, and for the QR code of the
        # second factor. On pages, only templates write `img` elements.
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        # In all current browsers, `self` includes ws: and wss: of the same host.
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}
