"""Gemini's Interactions API, the second protocol of the provider `gemini`. Nothing is stored at the server.

`events` reads the events of an answer, and `steps` makes parts of its steps. `input_steps` and `body` write a request.
Connections, limits and errors are those of the package around it.

Keys of `provider_data`:

    step                the step as it goes back, without what the part itself holds; of a text: its `model_output`
    thought_signature   the signature of the step, base64 as received
    place               of an image that code drew: its place in the `result` of the step before
"""
