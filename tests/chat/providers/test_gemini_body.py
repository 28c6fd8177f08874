"""Our own body of a request equals the one that the SDK makes."""

from __future__ import annotations

import asyncio
import json
import ssl
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from google import genai
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.parts import Content, GenerateRequest, Part, PartKind, Role
from chat.providers.gemini_access import Access
from chat.providers.gemini_body import body_of
from chat.providers.gemini_json import part_of_json
from chat.providers.gemini_wire import config_of, contents_of
from tests.chat.providers.camel import in_camel_case
from tests.chat.providers.test_gemini_json import PARTS

QUESTION = Content(Role.USER, (Part(PartKind.TEXT, text="?"),))
CONTENTS = st.lists(
    st.builds(Content, st.sampled_from(Role), st.lists(PARTS.map(part_of_json), max_size=4).map(tuple)), max_size=4
).map(lambda contents: (*contents, QUESTION))
REQUESTS = st.builds(
    GenerateRequest,
    model=st.just("m"),
    contents=CONTENTS,
    system_instruction=st.sampled_from(["", "Be brief. ❄"]),
    code_execution=st.booleans(),
    google_search=st.booleans(),
    url_context=st.booleans(),
    image_output=st.booleans(),
    include_thoughts=st.booleans(),
    thinking_level=st.sampled_from(["", "LOW", "HIGH"]),
    temperature=st.sampled_from([None, 0.0, 1.5]),
    max_output_tokens=st.sampled_from([None, 100]),
)


class Sent(Exception):
    """Carries what the SDK would have sent."""


async def sent_by_the_sdk(request: GenerateRequest, *, vertexai: bool) -> Any:  # noqa: ANN401 - JSON
    """The body that the SDK makes, as JSON."""

    async def take(asked: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        assert not isinstance(asked.body, bytes)
        raise Sent(asked.body.decode())

    access = replace(Access.from_settings(), vertexai=vertexai, api_key="none", base_url="http://127.0.0.1:9")
    async with aiohttp.ClientSession(middlewares=(take,)) as session:
        client: genai.Client = access.client(session, ssl.create_default_context())
        stream = client.aio.models.generate_content_stream(
            model=request.model, contents=contents_of(request), config=config_of(request)
        )
        with pytest.raises(Sent) as sent:
            await anext(await stream)
    return json.loads(str(sent.value))


@settings(max_examples=60)
@given(request=REQUESTS, vertexai=st.booleans())
def test_any_request_has_the_body_that_the_sdk_would_send(request: GenerateRequest, vertexai: bool) -> None:
    by_sdk = asyncio.run(sent_by_the_sdk(request, vertexai=vertexai))
    assert in_camel_case(by_sdk) == in_camel_case(json.loads(body_of(request)))
