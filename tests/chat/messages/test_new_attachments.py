"""How files that code displayed become attachments of an answer."""

from __future__ import annotations

from chat.messages.new_attachments import describe_attachment


def test_audio_is_a_file_with_the_extension_of_its_type() -> None:
    sound = describe_attachment(b"RIFF", "audio/wav", "", index=1, part_index=3, attachment_id="a", is_graph=True)
    assert (sound.name, sound.mime_type, sound.is_graph, sound.width) == ("file-2.wav", "audio/wav", False, None)
