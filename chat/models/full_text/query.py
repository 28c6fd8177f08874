"""Parses the text of the search box into terms. Every input is valid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chat.models.full_text.words import LETTER, NON_JOINER, UNSPACED, extract_signed_words, extract_words, fold

TERMS_LIMIT = 10
"""Maximum number of terms. Further terms are ignored, because each term is a separate index search."""

_QUOTES = str.maketrans(dict.fromkeys("“”„«»「」『』＂", '"'))
_ENDS_WITH_WORD = re.compile(f"(?:{LETTER}|[{UNSPACED}])\\Z")
_PERSIAN_WORDS = (re.compile(r"(ن?مي)(\S{2,40})"), re.compile(r"(\S{2,40}?)(ها|هاي|هايي|تر|ترين)"))
"""Patterns of Persian words that may also be written apart: a verb with its prefix, and a word with a plural or
comparative ending.
"""
_CHUNK = re.compile(r'"([^"]*)("|\Z)|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class Term:
    """A sequence of words to find next to each other."""

    words: str
    """The result of `extract_words`; never empty."""
    is_prefix: bool
    """True if the last word may be the beginning of a longer word: no sign and no closing quote follows it."""
    signed_words: tuple[str, ...] = ()
    """Words together with the signs that were typed beside them. A text that contains the term has all of them."""
    others: tuple[str, ...] = ()
    """Texts that also match the term: the same words joined or apart, because Persian is written both ways."""
    source: str = field(default="", compare=False)
    """The text as typed."""

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The texts whose last word also matches longer words; empty if `is_prefix` is false. They are `words`, each of
        `others`, and the last signed word if it does not end with a sign (`/etc`, but not `c++`).
        """
        if not self.is_prefix:
            return ()
        last = self.words.rpartition(" ")[2]
        return (self.words, *self.others, *(word for word in self.signed_words[-1:] if word.endswith(last)))


def parse(text: str) -> tuple[Term, ...]:
    """Return the terms, all of which a conversation must contain, in their order and without duplicates.

    The result is empty if the text has no words.
    """
    terms: list[Term] = []
    # JSON can express null characters and lone surrogates, which no database accepts as text.
    text = text.replace("\x00", " ").encode(errors="replace").decode()
    for quoted, close, bare in _CHUNK.findall(text.translate(_QUOTES)):
        source = quoted or bare
        if words := extract_words(source):
            is_prefix = not (quoted and close) and bool(_ENDS_WITH_WORD.search(fold(source)))
            before = terms[-1].words if bare and terms else ""
            others = _list_others(source, words, before)
            terms.append(Term(words, is_prefix, extract_signed_words(source), others, source))
    return tuple(dict.fromkeys(terms))[:TERMS_LIMIT]


def _list_others(source: str, words: str, before: str) -> tuple[str, ...]:
    """Return other forms of a term: without non-joiners, with its parts separated, and joined to the term before it."""
    forms = [extract_words(source.replace(NON_JOINER, ""))] if NON_JOINER in source else []
    forms += [f"{found[1]} {found[2]}" for form in _PERSIAN_WORDS if (found := form.fullmatch(words))]
    if any((found := form.fullmatch(before + words)) and found[1] == before for form in _PERSIAN_WORDS):
        forms.append(before + words)
    return tuple(dict.fromkeys(form for form in forms if form and form != words))


def make_exact(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return the terms as whole words instead of prefixes."""
    return tuple(replace(term, is_prefix=False) for term in terms)


def join_terms(terms: Sequence[Term]) -> Term:
    """Return one term for the phrase of all terms, with whole words."""
    signed_words = tuple(dict.fromkeys(word for term in terms for word in term.signed_words))
    source = " ".join(term.source for term in terms)
    return Term(" ".join(term.words for term in terms), False, signed_words, source=source)
