"""Serializers: they validate requests, build the JSON of responses, and describe both in the OpenAPI document."""
