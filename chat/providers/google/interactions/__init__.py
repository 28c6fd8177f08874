"""Gemini's Interactions API, the second protocol of the provider `gemini`. Nothing is stored at the server.

`events` reads the events of an answer, and `steps` makes parts of its steps. `input_steps` and `body` write a request.
Connections, limits and errors are those of the package around it.

Keys of `provider_data`:

    step                the step to send back, without the fields that the part has; for a text its `model_output`
    thought_signature   the signature of the step, base64 as received
    place               for an image that code drew: its index in the `result` of the previous step
"""
