"""Uploaded images are re-encoded, and the stored files hold no metadata."""

from __future__ import annotations

import io
import resource
import struct
import zlib

import pytest
from PIL import Image, ImageChops, ImageCms, PngImagePlugin
from pytest_django import Settings

from attachments import image_reencoding
from attachments.image_reencoding import reencode_image
from attachments.models import Attachment
from attachments.store import create_upload, read_bytes
from attachments.validation import RefusedUpload, UnreadableImage, UploadTooLarge
from chat.models import User
from tests.attachments.conftest import create_graph

SECRET = "61.4978N23.7610E"
TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
ORIENTATION, DESCRIPTION, GPS = 0x0112, 0x010E, 0x8825


def make_test_image(size: tuple[int, int] = (64, 48)) -> Image.Image:
    """Return an image that is bright at the top and dark at the bottom, with some colour and no symmetry."""
    ramp = Image.linear_gradient("L").transpose(Image.Transpose.ROTATE_180).resize(size)
    return Image.merge("RGB", (ramp, ramp.point(lambda level: level // 2), Image.new("L", size, 90)))


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    """Return the image as the bytes of a file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def encode_with_metadata(kind: str, *, orientation: int = 1) -> bytes:
    """Return an image file that has `SECRET` in every kind of metadata of its format, and after its end."""
    exif = Image.Exif()
    exif[ORIENTATION], exif[DESCRIPTION] = orientation, SECRET
    exif.get_ifd(GPS).update({1: "N", 29: SECRET})
    options: dict[str, object] = {"exif": exif, "icc_profile": ICC}
    if kind == "PNG":
        text_chunks = PngImagePlugin.PngInfo()
        text_chunks.add_text("Comment", SECRET)
        text_chunks.add_itxt("XML:com.adobe.xmp", SECRET)
        options["pnginfo"] = text_chunks
    else:
        options["xmp"] = f"<x:xmpmeta>{SECRET}</x:xmpmeta>".encode()
    if kind == "JPEG":
        options["comment"] = SECRET
    return encode(make_test_image(), kind, **options) + SECRET.encode()


def encode_grey_png(width: int, height: int, *, content: bytes = b"") -> bytes:
    """Return a black PNG, built row by row in little memory. `content` replaces the compressed pixels."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    compressor = zlib.compressobj(1)
    content = content or b"".join(compressor.compress(bytes(width + 1)) for _ in range(height)) + compressor.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def decode(data: bytes) -> Image.Image:
    """Return the image with all pixels decoded."""
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def max_difference(one: Image.Image, other: Image.Image) -> int:
    """Return the largest difference of any channel of any pixel."""
    bands = ImageChops.difference(one.convert("RGBA"), other.convert("RGBA")).getextrema()
    return max(int(band[1]) for band in bands if isinstance(band, tuple))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_metadata_is_removed_and_the_colour_profile_is_kept(kind: str) -> None:
    data = encode_with_metadata(kind)
    assert data.count(SECRET.encode()) >= 3
    image = reencode_image("a", data, TYPES[kind])
    assert SECRET.encode() not in image.data
    assert (image.mime_type, image.width, image.height) == (TYPES[kind], 64, 48)
    result = decode(image.data)
    assert not result.getexif()
    assert result.info["icc_profile"] == ICC
    assert not {"exif", "xmp", "comment", "Comment", "XML:com.adobe.xmp"} & set(result.info)
    assert max_difference(result, decode(data)) <= (0 if kind == "PNG" else 16)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_image_is_rotated_as_its_exif_orientation_says(kind: str) -> None:
    # Orientation 6: the camera was rotated, and the first row of pixels is the right side of the scene.
    image = reencode_image("a", encode_with_metadata(kind, orientation=6), TYPES[kind])
    assert (image.width, image.height) == (48, 64)
    expected = make_test_image().transpose(Image.Transpose.ROTATE_270)
    assert max_difference(decode(image.data), expected) <= (0 if kind == "PNG" else 24)


@pytest.mark.parametrize(
    "image",
    [
        make_test_image(),
        make_test_image().convert("L"),
        make_test_image().convert("1"),
        make_test_image().convert("P", palette=Image.Palette.ADAPTIVE),
        make_test_image().convert("RGBA"),
        make_test_image().convert("LA"),
        Image.frombytes("I;16", (64, 48), bytes(range(256)) * 24),
    ],
    ids=lambda image: image.mode,
)
def test_png_keeps_its_exact_pixels(image: Image.Image) -> None:
    result = decode(reencode_image("a", encode(image, "PNG"), "image/png").data)
    assert (result.mode, result.tobytes()) == (image.mode, image.tobytes())


def test_transparent_colour_of_a_palette_is_kept() -> None:
    data = encode(make_test_image().convert("P", palette=Image.Palette.ADAPTIVE), "PNG", transparency=3)
    result = decode(reencode_image("a", data, "image/png").data)
    assert result.convert("RGBA").tobytes() == decode(data).convert("RGBA").tobytes()
    assert result.convert("RGBA").getchannel("A").getextrema() == (0, 255)


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 60}], ids=["lossless", "lossy"])
@pytest.mark.parametrize("metadata", [{}, {"xmp": b"<x/>"}], ids=["simple", "extended"])
def test_lossless_webp_stays_lossless_and_lossy_webp_stays_lossy(
    options: dict[str, object], metadata: dict[str, object]
) -> None:
    data = encode(make_test_image((640, 480)), "WEBP", **options, **metadata)
    image = reencode_image("a", data, "image/webp")
    assert (b"VP8L" in image.data) == (b"VP8L" in data)
    assert max_difference(decode(image.data), decode(data)) <= (0 if "lossless" in options else 12)
    assert len(image.data) < 4 * len(data)


@pytest.mark.parametrize("quality", [30, 75, 95])
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_reencoded_jpeg_has_about_the_same_quality_and_file_size(quality: int, mode: str) -> None:
    ramp = Image.linear_gradient("L").resize((640, 480))
    noise = Image.merge(
        "RGB", [Image.radial_gradient("L").resize((640, 480)), ramp, ramp.transpose(Image.Transpose.ROTATE_180)]
    )
    data = encode(noise.convert(mode), "JPEG", quality=quality)
    image = reencode_image("a", data, "image/jpeg")
    assert len(image.data) < 1.2 * len(data)
    result = decode(image.data)
    assert result.mode == mode
    assert max_difference(result.convert("RGB"), decode(data).convert("RGB")) <= 12


def test_only_the_first_image_of_a_jpeg_is_kept() -> None:
    data = encode(make_test_image(), "MPO", save_all=True, append_images=[Image.new("RGB", (64, 48), "red")])
    image = reencode_image("a", data, "image/jpeg")
    assert max_difference(decode(image.data), make_test_image()) <= 16
    assert len(image.data) < len(data)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_only_the_first_frame_of_an_animation_is_kept(kind: str) -> None:
    frames = [Image.new("RGB", (32, 24), colour) for colour in ("red", "lime", "blue")]
    data = encode(
        frames[0], kind, save_all=True, append_images=frames[1:], **({"lossless": True} if kind == "WEBP" else {})
    )
    assert getattr(decode(data), "n_frames", 1) == 3
    result = decode(reencode_image("a", data, TYPES[kind]).data)
    assert getattr(result, "n_frames", 1) == 1
    assert max_difference(result, frames[0]) == 0


def test_error_for_an_image_with_broken_pixel_data_has_the_file_name() -> None:
    with pytest.raises(UnreadableImage, match=r"^“holiday.png” is broken"):
        reencode_image("holiday.png", encode_grey_png(200, 200, content=b"no pixels"), "image/png")


def test_image_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_reencoding, "REENCODE_LIMIT_S", 0.001)
    with pytest.raises(UnreadableImage, match=r"^“a.png” takes too long"):
        reencode_image("a.png", encode(make_test_image(), "PNG"), "image/png")


def test_images_are_reencoded_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_reencoding, "QUEUE_LIMIT_S", 0.01)
    data = encode(make_test_image(), "PNG")
    with image_reencoding._program_slot, pytest.raises(RefusedUpload, match="busy"):
        reencode_image("a.png", data, "image/png")
    assert reencode_image("a.png", data, "image/png").width == 64


def test_reencoding_a_large_image_takes_little_memory_in_the_server_process() -> None:
    data = encode_grey_png(9_000, 5_500)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    image = reencode_image("a.png", data, "image/png")
    assert (image.width, image.height) == (9_000, 5_500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 20 * 1024


# --- uploads -----------------------------------------------------------------------------------------------------


def test_uploaded_image_is_stored_reencoded(owner: User) -> None:
    attachment = create_upload(owner_id=owner.pk, name="IMG_1.JPG", data=encode_with_metadata("JPEG", orientation=8))
    attachment.refresh_from_db()
    data = read_bytes(attachment)
    assert SECRET.encode() not in data
    assert (attachment.name, attachment.mime_type) == ("IMG_1.JPG", "image/jpeg")
    assert (attachment.width, attachment.height) == (48, 64)
    assert attachment.size_bytes == len(data)


@pytest.mark.parametrize(("name", "stored_name"), [("cat.gif", "cat.png"), ("CAT.GIF", "CAT.png"), ("cat", "cat")])
def test_gif_becomes_a_png(owner: User, name: str, stored_name: str) -> None:
    attachment = create_upload(owner_id=owner.pk, name=name, data=encode(make_test_image(), "GIF"))
    assert (attachment.name, attachment.mime_type) == (stored_name, "image/png")
    assert decode(read_bytes(attachment)).format == "PNG"


@pytest.mark.parametrize(
    ("name", "kind", "mode", "stored_name"),
    [
        ("screen.BMP", "BMP", "RGB", "screen.png"),
        ("photo.avif", "AVIF", "RGB", "photo.jpg"),
        ("scan.tiff", "TIFF", "CMYK", "scan.jpg"),
        ("scan.tif", "TIFF", "1", "scan.png"),
        ("pasted", "TIFF", "RGBA", "pasted"),
    ],
)
def test_image_in_a_format_that_browsers_do_not_show_is_converted_to_png_or_jpeg(
    owner: User, name: str, kind: str, mode: str, stored_name: str
) -> None:
    attachment = create_upload(owner_id=owner.pk, name=name, data=encode(make_test_image().convert(mode), kind))
    stored = decode(read_bytes(attachment))
    assert (attachment.name, attachment.mime_type) == (stored_name, Image.MIME[stored.format or ""])
    assert (attachment.width, attachment.height) == (64, 48)
    assert stored.format == ("JPEG" if stored_name.endswith("jpg") else "PNG")
    assert stored.mode == ("RGB" if mode == "CMYK" else mode)


def test_refusal_of_a_picture_that_cannot_be_converted_says_what_to_do(owner: User) -> None:
    page = make_test_image()
    heic = b"\0\0\0\x24ftypheic\0\0\0\0heixmif1" + bytes(100)
    too_wide = encode(Image.new("1", (65_600, 2)), "BMP")
    for name, data, sentence in [
        ("a.tiff", encode(page, "TIFF", save_all=True, append_images=[page]), "several pages. Save it as PDF"),
        ("a.HEIC", heic, "HEIC format. Share it as JPEG, or convert it"),
        ("a.jxl", b"\xff\x0a" + bytes(range(100)), "JPEG XL format. Share it as JPEG"),
        ("a.jpg", encode(page, "JPEG2000"), "JPEG 2000 format. Share it as JPEG"),
        ("a.bmp", too_wide, "is broken, or takes too much memory"),
        ("a.avif", heic.replace(b"heix", b"avif"), "is broken"),
        ("a.tif", b"II*\0" + bytes(100), "is broken"),
        ("heights.tif", encode(Image.new("F", (2, 2), 0.5), "TIFF"), "as PNG or JPEG"),
        ("IMG_1.DNG", encode(page, "TIFF"), "a picture in raw format. Share it as JPEG"),
        ("chart.emf", b"\1\0\0\0" + bytes(100), "a picture in EMF format. Share it as JPEG"),
        ("IMG_2.MOV", b"\0\0\0\x14ftypqt  " + bytes(100), "it is a video or a sound recording. Attach a picture"),
    ]:
        with pytest.raises(RefusedUpload, match=sentence):
            create_upload(owner_id=owner.pk, name=name, data=data)
    big = io.BytesIO()
    page.save(big, "TIFF", big_tiff=True)
    assert create_upload(owner_id=owner.pk, name="scan.tif", data=big.getvalue()).mime_type == "image/jpeg"
    assert create_upload(owner_id=owner.pk, name="a.csv", data=b"BMW,Audi\n1,2\n").mime_type == "text/csv"


def test_graph_is_stored_unchanged(owner: User) -> None:
    data = encode_with_metadata("PNG", orientation=6)
    assert read_bytes(create_graph(owner, data=data)) == data


def test_refused_image_is_not_stored(owner: User, settings: Settings) -> None:
    with pytest.raises(UnreadableImage):
        create_upload(owner_id=owner.pk, name="a.png", data=encode_grey_png(200, 200, content=b"no pixels"))
    # This file is smaller than its re-encoded form.
    small_file = encode(Image.effect_noise((64, 64), 50), "WEBP", quality=1)
    settings.UPLOAD_LIMIT_BYTES = len(small_file)
    with pytest.raises(UploadTooLarge, match=r"“a.webp” is too large"):
        create_upload(owner_id=owner.pk, name="a.webp", data=small_file)
    assert not Attachment.objects.exists()
