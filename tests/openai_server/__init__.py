"""A stand-in for servers that speak OpenAI's chat completions. It refuses what the real servers refuse.

`running_server` starts it on a loopback port, in a thread of the test process. The first segment of a path names the
profile, which is the kind of server: `http://127.0.0.1:PORT/mistral/v1` behaves like Mistral. `profiles` lists them.

The name of a model is `TRAITS/SCENARIO`, and the traits may be left out:

- the scenario decides the answer: `text`, `call` and others of `scenarios`, the name of a hand-written body of
  `shapes`, or `recording:NAME` for a body that the test has passed;
- the traits decide what this model refuses: `gpt-5`, `o1-mini`, `text-only`, `no-tools`, `context-300`. Several are
  joined by `+`. `violations` describes them.

The journal records every request, so that a test can read what was sent. `violations` finds every mistake in a request.
`refusals.toml` says which servers refuse which mistakes, with which status and in which words.
"""
