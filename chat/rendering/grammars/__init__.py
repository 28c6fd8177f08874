"""The grammars of all languages that are highlighted, as data for `highlight`."""

from __future__ import annotations

from chat.rendering.grammars.c_like import C_LIKE
from chat.rendering.grammars.documents import DOCUMENTS
from chat.rendering.grammars.scripts import SCRIPTS
from chat.rendering.grammars.tokens import NAME as NAME
from chat.rendering.grammars.tokens import TOKEN_CLASSES as TOKEN_CLASSES
from chat.rendering.grammars.tokens import Grammar as Grammar

GRAMMARS: dict[str, Grammar] = {**C_LIKE, **DOCUMENTS, **SCRIPTS}
