"""A server of ours that speaks Gemini's wire protocol on loopback: demo model, scenarios, replays.

It imports nothing of ours but `chat.kernels`, and never Django: it runs in a process of its own.
The name of the model in the request's path decides who answers:

- `scenario-NAME`: a scripted answer or fault, see `scenarios`;
- `replay-STEM`: a recorded body, byte for byte, see `replay`;
- any other name: the demo model, which really runs code, see `demo`.

Asked for a title, each of them gives one, see `titles`. A strict emulator refuses what the real API does: most of all
a thought signature that is missing, moved, altered or another model's, see `strict` and `ledger`.

`GET /emulator/calls` tells which models were called and how each call ended, with `--journal` also what was asked;
`GET /emulator/kernels` how many kernels are alive.
"""
