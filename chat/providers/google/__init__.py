"""The provider `gemini`, which uses google-genai. Read `provider` first.

`interactions` is the second protocol, which a model's row can choose. Other modules serve `generateContent` or both.

`access` has the address and the credentials; `client` sends a request and returns its response; `stream_parser` splits
the response into JSON objects; `codec` and `wire_parts` translate them to stream events, and requests to JSON; `errors`
translates failures.
"""
