"""The grammars of all languages that are highlighted, as data for `highlight`."""

from __future__ import annotations

from chat.page.rendering.grammars.c_like import C_LIKE
from chat.page.rendering.grammars.documents import DOCUMENTS
from chat.page.rendering.grammars.scripts import SCRIPTS
from chat.page.rendering.grammars.tokens import NAME as NAME
from chat.page.rendering.grammars.tokens import TOKEN_CLASSES as TOKEN_CLASSES
from chat.page.rendering.grammars.tokens import Grammar as Grammar

GRAMMARS: dict[str, Grammar] = {**C_LIKE, **DOCUMENTS, **SCRIPTS}
