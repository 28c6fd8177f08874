"""Uploaded pictures are kept without what they do not show."""

from __future__ import annotations

import io
import resource
import struct
import zlib
from typing import Any

import pytest
from django.contrib.auth.models import User
from PIL import Image, ImageChops, ImageCms, PngImagePlugin
from pytest_django import Settings

from attachments import pictures
from attachments.models import Attachment
from attachments.pictures import redrawn
from attachments.store import new_upload, read_bytes
from attachments.validation import RefusedUpload, TooLarge, UnreadableImage
from tests.attachments.conftest import new_graph

SECRET = "61.4978N23.7610E"
TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
ORIENTATION, DESCRIPTION, GPS = 0x0112, 0x010E, 0x8825


def scene(size: tuple[int, int] = (64, 48)) -> Image.Image:
    """Bright on top, dark below, with some colour and no symmetry."""
    ramp = Image.linear_gradient("L").transpose(Image.Transpose.ROTATE_180).resize(size)
    return Image.merge("RGB", (ramp, ramp.point(lambda level: level // 2), Image.new("L", size, 90)))


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    """The picture's file."""
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def talkative(kind: str, *, orientation: int = 1) -> bytes:
    """A picture that tells where it was taken in every way that its format has."""
    exif = Image.Exif()
    exif[ORIENTATION], exif[DESCRIPTION] = orientation, SECRET
    exif.get_ifd(GPS).update({1: "N", 29: SECRET})
    options: dict[str, Any] = {"exif": exif, "icc_profile": ICC}
    if kind == "PNG":
        notes = PngImagePlugin.PngInfo()
        notes.add_text("Comment", SECRET)
        notes.add_itxt("XML:com.adobe.xmp", SECRET)
        options["pnginfo"] = notes
    else:
        options["xmp"] = f"<x:xmpmeta>{SECRET}</x:xmpmeta>".encode()
    if kind == "JPEG":
        options["comment"] = SECRET
    return saved(scene(), kind, **options) + SECRET.encode()


def grey_png(width: int, height: int, *, content: bytes = b"") -> bytes:
    """A PNG in few bytes, whose pixels are packed here row by row unless `content` is put in their place."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    pack = zlib.compressobj(1)
    content = content or b"".join(pack.compress(bytes(width + 1)) for _ in range(height)) + pack.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def opened(data: bytes) -> Image.Image:
    """The picture, all of it read."""
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


def difference(one: Image.Image, other: Image.Image) -> int:
    """The largest of any channel of any pixel."""
    bands = ImageChops.difference(one.convert("RGBA"), other.convert("RGBA")).getextrema()
    return max(int(band[1]) for band in bands if isinstance(band, tuple))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_nothing_is_left_but_the_picture_and_its_colours(kind: str) -> None:
    data = talkative(kind)
    assert data.count(SECRET.encode()) >= 3
    picture = redrawn("a", data, TYPES[kind])
    assert SECRET.encode() not in picture.data
    assert (picture.mime_type, picture.width, picture.height) == (TYPES[kind], 64, 48)
    kept = opened(picture.data)
    assert not kept.getexif()
    assert kept.info["icc_profile"] == ICC
    assert not {"exif", "xmp", "comment", "Comment", "XML:com.adobe.xmp"} & set(kept.info)
    assert difference(kept, opened(data)) <= (0 if kind == "PNG" else 16)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_picture_stands_upright_afterwards(kind: str) -> None:
    # 6: the camera was turned; what is above in the file belongs to the right.
    picture = redrawn("a", talkative(kind, orientation=6), TYPES[kind])
    assert (picture.width, picture.height) == (48, 64)
    kept = opened(picture.data)
    assert difference(kept, scene().transpose(Image.Transpose.ROTATE_270)) <= (0 if kind == "PNG" else 24)


@pytest.mark.parametrize(
    "picture",
    [
        scene(),
        scene().convert("L"),
        scene().convert("1"),
        scene().convert("P", palette=Image.Palette.ADAPTIVE),
        scene().convert("RGBA"),
        scene().convert("LA"),
        Image.frombytes("I;16", (64, 48), bytes(range(256)) * 24),
    ],
    ids=lambda picture: picture.mode,
)
def test_png_loses_nothing(picture: Image.Image) -> None:
    kept = opened(redrawn("a", saved(picture, "PNG"), "image/png").data)
    assert (kept.mode, kept.tobytes()) == (picture.mode, picture.tobytes())


def test_transparent_colour_of_a_palette_is_kept() -> None:
    data = saved(scene().convert("P", palette=Image.Palette.ADAPTIVE), "PNG", transparency=3)
    kept = opened(redrawn("a", data, "image/png").data)
    assert kept.convert("RGBA").tobytes() == opened(data).convert("RGBA").tobytes()
    assert kept.convert("RGBA").getchannel("A").getextrema() == (0, 255)


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 60}], ids=["lossless", "lossy"])
@pytest.mark.parametrize("notes", [{}, {"xmp": b"<x/>"}], ids=["simple", "extended"])
def test_webp_stays_as_exact_as_it_was(options: dict[str, Any], notes: dict[str, Any]) -> None:
    data = saved(scene((640, 480)), "WEBP", **options, **notes)
    picture = redrawn("a", data, "image/webp")
    assert (b"VP8L" in picture.data) == (b"VP8L" in data)
    assert difference(opened(picture.data), opened(data)) <= (0 if "lossless" in options else 12)
    assert len(picture.data) < 4 * len(data)


@pytest.mark.parametrize("quality", [30, 75, 95])
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_jpeg_keeps_its_quality_and_its_size(quality: int, mode: str) -> None:
    ramp = Image.linear_gradient("L").resize((640, 480))
    noise = Image.merge(
        "RGB", [Image.radial_gradient("L").resize((640, 480)), ramp, ramp.transpose(Image.Transpose.ROTATE_180)]
    )
    data = saved(noise.convert(mode), "JPEG", quality=quality)
    picture = redrawn("a", data, "image/jpeg")
    assert len(picture.data) < 1.2 * len(data)
    kept = opened(picture.data)
    assert kept.mode == mode
    assert difference(kept.convert("RGB"), opened(data).convert("RGB")) <= 12


def test_of_several_pictures_in_a_jpeg_the_first_stays() -> None:
    data = saved(scene(), "MPO", save_all=True, append_images=[Image.new("RGB", (64, 48), "red")])
    picture = redrawn("a", data, "image/jpeg")
    assert difference(opened(picture.data), scene()) <= 16
    assert len(picture.data) < len(data)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_of_an_animation_the_first_picture_stays(kind: str) -> None:
    frames = [Image.new("RGB", (32, 24), colour) for colour in ("red", "lime", "blue")]
    data = saved(
        frames[0], kind, save_all=True, append_images=frames[1:], **({"lossless": True} if kind == "WEBP" else {})
    )
    assert getattr(opened(data), "n_frames", 1) == 3
    kept = opened(redrawn("a", data, TYPES[kind]).data)
    assert getattr(kept, "n_frames", 1) == 1
    assert difference(kept, frames[0]) == 0


def test_picture_that_is_broken_inside_is_refused_by_name() -> None:
    with pytest.raises(UnreadableImage, match=r"^“holiday.png” is broken"):
        redrawn("holiday.png", grey_png(200, 200, content=b"no pixels"), "image/png")


def test_picture_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "DRAW_LIMIT_S", 0.001)
    with pytest.raises(UnreadableImage, match=r"^“a.png” takes too long"):
        redrawn("a.png", saved(scene(), "PNG"), "image/png")


def test_pictures_are_drawn_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "QUEUE_LIMIT_S", 0.01)
    data = saved(scene(), "PNG")
    with pictures._one_at_a_time, pytest.raises(RefusedUpload, match="busy"):
        redrawn("a.png", data, "image/png")
    assert redrawn("a.png", data, "image/png").width == 64


def test_large_picture_takes_no_memory_of_the_server() -> None:
    data = grey_png(9_000, 5_500)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    picture = redrawn("a.png", data, "image/png")
    assert (picture.width, picture.height) == (9_000, 5_500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 20 * 1024


# --- as uploads -----------------------------------------------------------------------------------------------------


def test_upload_is_kept_as_it_was_drawn_anew(owner: User) -> None:
    kept = new_upload(owner_id=owner.pk, name="IMG_1.JPG", data=talkative("JPEG", orientation=8))
    kept.refresh_from_db()
    data = read_bytes(kept)
    assert SECRET.encode() not in data
    assert (kept.name, kept.mime_type, kept.width, kept.height) == ("IMG_1.JPG", "image/jpeg", 48, 64)
    assert kept.size_bytes == len(data)


@pytest.mark.parametrize(("name", "kept_name"), [("cat.gif", "cat.png"), ("CAT.GIF", "CAT.png"), ("cat", "cat")])
def test_gif_becomes_a_png(owner: User, name: str, kept_name: str) -> None:
    kept = new_upload(owner_id=owner.pk, name=name, data=saved(scene(), "GIF"))
    assert (kept.name, kept.mime_type) == (kept_name, "image/png")
    assert opened(read_bytes(kept)).format == "PNG"


def test_graph_is_kept_byte_for_byte(owner: User) -> None:
    data = talkative("PNG", orientation=6)
    assert read_bytes(new_graph(owner, data=data)) == data


def test_refused_picture_leaves_nothing_behind(owner: User, settings: Settings) -> None:
    with pytest.raises(UnreadableImage):
        new_upload(owner_id=owner.pk, name="a.png", data=grey_png(200, 200, content=b"no pixels"))
    # Packed better than it will be.
    tight = saved(Image.effect_noise((64, 64), 50), "WEBP", quality=1)
    settings.UPLOAD_LIMIT_BYTES = len(tight)
    with pytest.raises(TooLarge, match=r"“a.webp” is too large"):
        new_upload(owner_id=owner.pk, name="a.webp", data=tight)
    assert not Attachment.objects.exists()
