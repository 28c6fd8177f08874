"""The Gemini emulator for tests: it extends `chat.emulator` with what only tests need.

The model's name in the request's path decides who answers:

- `scenario-NAME`: a scripted answer or fault of `tests.scenarios` or `own_scenarios`, which `writer` writes;
- `replay-NAME`: a recorded response body, byte for byte;
- any other name: the demo model of `chat.emulator`.

If the system instruction asks for a title, every model answers with one, see `titles`.

`GET /emulator/calls` returns the model and the state of the last calls, and `GET /emulator/calls/NUMBER` also the
request body. Requests that the real API refuses are refused, see `request_checks`.
"""
