"""Views: each parses with a serializer, authorises with `access`, makes one domain call, and returns one response."""
