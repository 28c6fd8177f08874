"""The Gemini emulator for tests: it extends `chat.emulator` with what only tests need.

The model's name in the request's path decides who answers:

- `scenario-NAME`: a scripted answer or fault, see `scenarios`;
- `replay-STEM`: a recorded response body, byte for byte, see `replay`;
- any other name: the demo model of `chat.emulator`.

If the system instruction asks for a title, every model answers with one, see `titles`.

`GET /emulator/calls` returns the model, the state and the number of steps of the last calls, and
`GET /emulator/calls/NUMBER` also the request body, see `journal`. In strict mode the server rejects requests that the
real API rejects: above all a thought signature that is missing, moved or altered, or belongs to another model, see
`strict_mode`.
"""
