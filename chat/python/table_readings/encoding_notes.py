"""Makes the notes of a preview about the encoding of the file. Pure."""

from __future__ import annotations

from attachments.encoding_names import encoding_name
from attachments.text_encoding import TextEncoding

AS_UTF_8 = "Models and code get the file as UTF-8."
SHOWN_AS = "What could not be read is shown as �."


def describe_encoding(encoding: TextEncoding, *, is_chosen: bool = False) -> list[str]:
    """Return sentences about an unusual encoding and about unusual bytes; none for usual UTF-8.

    `is_chosen`: whether a person chose the encoding.
    """
    notes = []
    if is_chosen:
        notes.append(f"The file is read as {encoding.name}, as you chose. {AS_UTF_8}")
    elif encoding.is_guess:
        note = f"The encoding is a guess: {encoding.name}."
        if encoding.candidates:
            note += f" It could also be {', '.join(map(encoding_name, encoding.candidates))}."
        notes.append(f"{note} {AS_UTF_8}")
    elif encoding.codec == "utf-8-sig":
        notes.append("The file is UTF-8 and begins with a byte order mark.")
    elif encoding.codec != "utf-8":
        notes.append(f"The file is encoded as {encoding.name}. {AS_UTF_8}")
    return notes + _describe_bad_bytes(encoding) + _describe_controls(encoding)


def _describe_bad_bytes(encoding: TextEncoding) -> list[str]:
    if encoding.first_bad is None:
        return []
    name, place = encoding.name, f"{encoding.first_bad:,}"
    if encoding.bad_count == 1:
        return [f"At byte {place}, the file is not valid {name}. {SHOWN_AS}"]
    return [f"In {encoding.bad_count:,} places, the file is not valid {name}, first at byte {place}. {SHOWN_AS}"]


def _describe_controls(encoding: TextEncoding) -> list[str]:
    notes = []
    if encoding.has_end_mark:
        notes.append("The control character at the end (Ctrl-Z) was ignored.")
    if encoding.nul_count:
        is_one = encoding.nul_count == 1
        notes.append(f"{encoding.nul_count:,} NUL character{' was' if is_one else 's were'} ignored.")
    if encoding.control_count:
        is_one = encoding.control_count == 1
        notes.append(f"The text holds {encoding.control_count:,} control character{'' if is_one else 's'}.")
    return notes
