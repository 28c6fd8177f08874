"""The REST API.

`urls` lists the calls. `views` has one module for each noun, `serializers` their requests and responses. Every response
that is not a success is a problem (`problems`). `schema` makes the OpenAPI document of views and serializers.
"""
