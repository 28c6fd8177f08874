"""A stand-in for servers that speak OpenAI's protocols. It refuses what the real servers refuse.

`server.running_server` starts it on a loopback port, in a thread of the test process. The first segment of a path names
the profile, which is the kind of server: `http://127.0.0.1:PORT/mistral/v1` behaves like Mistral.

The name of a model is `TRAITS/SCENARIO`, and the traits may be left out:

- the scenario decides the answer: `text`, `function-call` and others of `tests.scenarios`, `image`, the name of a
  hand-written response of `shapes.yaml`, or `recording:NAME` for a body that the test has passed;
- the traits decide what this model refuses: `gpt-5`, `o1-mini`, `text-only`, `no-tools`, `context-300`. Several are
  joined by `+`.

The same scenarios are also spoken in the Responses API, at `/responses`: `response_events` writes them,
`response_rules` refuses, and `response_shapes.yaml` has the hand-written streams.

The journal records every request, so that a test can read what was sent.

To understand a refusal, read its row in `refusals.toml`, which has the status and the words of each server, the
condition of the same name in `violations`, and the form of the server's errors in `refusals`.
"""
