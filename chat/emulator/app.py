"""The emulator's HTTP application: the paths of Gemini's two protocols, and errors in their form."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator

from aiohttp import web
from aiohttp.typedefs import Handler

from chat.emulator import model_list, wire
from chat.emulator.demo_model import DemoModel
from chat.emulator.files import FileStore
from chat.emulator.generation_request import GenerationRequest, check_store, parse_body, parse_generation_request
from chat.emulator.host_check import only_for_host
from chat.emulator.interaction_events import InteractionBody, error_response
from chat.emulator.interaction_request import generation_body
from chat.emulator.response_writer import BODY, ResponseWriter, json_response
from chat.emulator.wire import Step, WireError, WireObject
from chat.python.kernels.places import Place
from chat.vocabulary.demo_model import DEMO_MODEL

BODY_LIMIT_BYTES = 256 * 1024 * 1024
CODE_LIMIT_S = 30.0
"""Time limit of one execution, as in Gemini's sandbox."""
SENT = "body of the request"
"""The key under which a request holds the unchanged body of an interaction."""
STREAM_METHOD, UNARY_METHOD = "streamGenerateContent", "generateContent"


class Emulator:
    """One server. It has one model, the demo model, and responds 404 to requests for other models.

    The test server extends this class. `generate` receives every generation request: an override can check it, record
    it, and write the response in another way. `answer` chooses who answers. `models` and `find_model` name the models.
    """

    def __init__(self, place: Place, *, pace: float = 1.0, code_limit_s: float = CODE_LIMIT_S) -> None:
        """The demo model runs its code at `place`; `pace` multiplies all pauses."""
        self.pace = pace
        self.files = FileStore()
        self._demo_model = DemoModel(self.files, place, code_limit_s)

    def application(self, host: str) -> web.Application:
        """Return the application for a server that listens on `host`."""
        app = web.Application(client_max_size=BODY_LIMIT_BYTES, middlewares=[_gemini_errors, only_for_host(host)])
        app.router.add_routes(self.routes())
        app.cleanup_ctx.append(self._demo_model_lifetime)
        return app

    def routes(self) -> list[web.RouteDef]:
        """Return the routes. Any API version and any Vertex AI path may precede `models/`."""
        return [
            *self.files.routes(),
            web.get("/{path:.*models}", self._list_models),
            web.get("/{path:.*models}/{model:[^:]+}", self._get_model),
            web.post("/{path:.*?models}/{model:[^:]+}:{method}", self._post),
            web.post("/{path:[^:]*}/interactions", self._interact),
        ]

    async def generate(
        self, http_request: web.Request, model: str, body: WireObject, *, is_stream: bool
    ) -> web.StreamResponse:
        """Answer one generation request; raises WireError for an invalid one. `body` has names in camelCase."""
        self.find_model(model)
        request = parse_generation_request(model, body, response_id=secrets.token_urlsafe(17))
        writer = ResponseWriter(http_request, is_stream=is_stream, pace=self.pace)
        return await writer.write(self.answer(request))

    def answer(self, request: GenerationRequest) -> AsyncGenerator[Step, None]:
        """Return the steps of the answer to a request."""
        return self._demo_model.answer(request)

    def models(self) -> list[WireObject]:
        """Return the models for the list of models."""
        return [model_list.describe_model(DEMO_MODEL, "The demo model: runs code for real, but is no AI.")]

    def find_model(self, name: str) -> WireObject:
        """Return the description of a model; raises WireError if there is none."""
        if name != DEMO_MODEL:
            message = f"models/{name} is not found for this API version. This emulator has only {DEMO_MODEL}."
            raise WireError(404, message, "NOT_FOUND")
        return model_list.describe_model(name, "")

    async def _post(self, http_request: web.Request) -> web.StreamResponse:
        model, method = http_request.match_info["model"], http_request.match_info["method"]
        body = parse_body(await http_request.read())
        if method not in (STREAM_METHOD, UNARY_METHOD):
            raise WireError(404, f"models/{model} is not supported for {method}.", "NOT_FOUND")
        check_store(body, is_vertexai=_is_vertexai(http_request))
        return await self.generate(http_request, model, body, is_stream=method == STREAM_METHOD)

    async def _interact(self, http_request: web.Request) -> web.StreamResponse:
        """Answer one request of the Interactions API, and report errors in its form."""
        try:
            http_request[SENT], body = generation_body(await http_request.read())
            http_request[BODY] = InteractionBody(http_request)
            response = await self.generate(http_request, http_request[SENT]["model"], body, is_stream=True)
        except WireError as error:
            return error_response(error.status, error.body)
        if isinstance(response, web.Response) and response.body:
            return error_response(response.status, json.loads(response.text or ""))
        return response

    async def _list_models(self, http_request: web.Request) -> web.Response:
        models = self.models()
        if not _is_vertexai(http_request):
            return web.json_response(model_list.page(models, http_request.query, "models"))
        publisher_models = [{**model, "name": f"publishers/google/{model['name']}"} for model in models]
        return web.json_response(model_list.page(publisher_models, http_request.query, "publisherModels"))

    async def _get_model(self, http_request: web.Request) -> web.Response:
        return web.json_response(self.find_model(http_request.match_info["model"]))

    async def _demo_model_lifetime(self, app: web.Application) -> AsyncIterator[None]:
        preparation = asyncio.create_task(self._demo_model.prepare())
        yield
        preparation.cancel()
        await self._demo_model.close()


@web.middleware
async def _gemini_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except WireError as error:
        return json_response(error.status, error.body)
    except web.HTTPException as error:
        name = {404: "NOT_FOUND", 405: "UNIMPLEMENTED", 413: "INVALID_ARGUMENT"}.get(error.status, "UNKNOWN")
        message = f"{error.reason}: {request.path}"
        return json_response(error.status, wire.error_body(error.status, message, name))


def _is_vertexai(http_request: web.Request) -> bool:
    return "publishers/" in http_request.match_info["path"]
