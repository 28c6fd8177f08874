"""OpenAI's Responses API, the second protocol of the provider `openai_compatible`. Nothing is stored at the server.

`events` makes the normal form of a response from its events, and `output_items` parts from its items. `input_items`
and `body` write a request. Connections, limits, errors and facts about models are those of the package around it.

Keys of `provider_data`:

    item    the item to send back, without its id and its status if servers are known to accept that
    index   index of the item in its response
"""
