"""One part of each kind with every field set, for tests of everything that must know all kinds."""

from __future__ import annotations

from collections.abc import Mapping

from chat.parts import (
    OUTCOME_FAILED,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
    PartKind,
    PrintedImage,
    Text,
    Thought,
    Unsupported,
)

SIGNED: JSONObject = {"thought_signature": "c2lnbmVk", "other": {"x": [1]}}

EXAMPLES: Mapping[PartKind, Part] = {
    part.kind: part
    for part in (
        Text("a *b*", round=1, made_by="c", provider_data=SIGNED),
        Thought("hm", round=1, made_by="c", provider_data=SIGNED),
        ExecutableCode("print(1)", "PYTHON", "c", Engine.SESSION, round=1, made_by="c", provider_data=SIGNED),
        CodeExecutionResult(
            output="1",
            outcome=OUTCOME_FAILED,
            call_id="c",
            engine=Engine.SESSION,
            images=(PrintedImage(0, "data:image/png;base64,", 76, 0),),
            round=1,
            made_by="c",
            provider_data=SIGNED,
        ),
        InlineData("image/png", "graph.png", round=1, made_by="c", provider_data=SIGNED),
        FileData("https://files.example/1", "text/csv", round=1, made_by="c", provider_data=SIGNED),
        FunctionCall("run", {"code": "1"}, "c", round=1, made_by="c", provider_data=SIGNED),
        FunctionResponse("run", {"error": "no"}, "c", is_error=True, round=1, made_by="c", provider_data=SIGNED),
        Display({"text/plain": "1", "text/html": "<b>1</b>"}, round=1, made_by="c", provider_data=SIGNED),
        Unsupported(round=1, made_by="c", provider_data=SIGNED),
    )
}
