"""The Gemini emulator: a server on loopback that speaks Gemini's wire protocol, with a demo model that runs code.

It ships with Plotline so that Plotline can be tried without a key. `make run` starts it as a process of its own.
It runs without Django's settings, so it imports only modules of this project that need none: `chat.vocabulary`,
`chat.python.kernels` and some beside it.

- `app`: the HTTP routes; the class `Emulator` is also the base of the server that tests use;
- `generation_request`: parses and validates what a client asks for;
- `wire`, `chunk_builder`, `response_writer`: the parts, the chunks and the bytes of an answer;
- `interaction_request`, `interaction_events`: requests and answers of the Interactions API;
- `files`: the Files API; `model_list`: the list of models;
- `demo_model`: the demo model; `demo`: what it understands, and what it runs for it. Its code runs in
  kernels of the service for Python sessions.
"""
