"""One part of each kind with every field set, for tests of code that must handle all kinds."""

from __future__ import annotations

from collections.abc import Mapping

from chat.vocabulary.parts import (
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
    Refusal,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
    WrittenFile,
)

SIGNED: JSONObject = {"thought_signature": "c2lnbmVk", "other": {"x": [1]}}

EXAMPLES: Mapping[PartKind, Part] = {
    part.kind: part
    for part in (
        Text("a *b*", round=1, made_by="c", provider_data=SIGNED),
        Thought("hm", duration_ms=4200, round=1, made_by="c", provider_data=SIGNED),
        ExecutableCode(
            "print(1)", "PYTHON", "c", Engine.SESSION, is_edited=True, round=1, made_by="c", provider_data=SIGNED
        ),
        CodeExecutionResult(
            output="1",
            outcome=OUTCOME_FAILED,
            call_id="c",
            engine=Engine.SESSION,
            images=(PrintedImage(0, "data:image/png;base64,", 76, 0),),
            files=(WrittenFile("out.csv", 3, "2026-01-02T03:04:05+00:00", is_new=True),),
            table_changes=("`sales`: 1,000 -> 982 rows",),
            missing_cells=("`sales`: `price` missing 18",),
            cleared=("0",),
            cleared_left_out=2,
            duration_ms=1200,
            round=1,
            made_by="c",
            provider_data=SIGNED,
        ),
        InlineData("image/png", "graph.png", title="Sales", round=1, made_by="c", provider_data=SIGNED),
        FileData("https://files.example/1", "text/csv", round=1, made_by="c", provider_data=SIGNED),
        FunctionCall("run", {"code": "1"}, "c", round=1, made_by="c", provider_data=SIGNED),
        FunctionResponse(
            "run",
            {"error": "no"},
            "c",
            is_error=True,
            refusal=Refusal.DENIED,
            round=1,
            made_by="c",
            provider_data=SIGNED,
        ),
        ToolCall("GOOGLE_SEARCH_WEB", {"queries": ["a"]}, "c", round=1, made_by="c", provider_data=SIGNED),
        ToolResponse("GOOGLE_SEARCH_WEB", {"found": 1}, "c", round=1, made_by="c", provider_data=SIGNED),
        Display({"text/plain": "1", "text/html": "<b>1</b>"}, round=1, made_by="c", provider_data=SIGNED),
        Unsupported(round=1, made_by="c", provider_data=SIGNED),
    )
}
