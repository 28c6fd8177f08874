"""Pictures that phones, scanners and older programs write, and that browsers or models do not read. Pure.

BMP, TIFF and AVIF are converted when they are attached, see `attachments.image_reencoding`. HEIC cannot be read here.
"""

from __future__ import annotations

BMP = "image/bmp"
TIFF = "image/tiff"
AVIF = "image/avif"

UNREAD_PICTURE = "it is a picture in {} format. Share it as JPEG, or convert it to JPEG, and attach that file."
HEIC_REFUSAL = (
    UNREAD_PICTURE.format("HEIC") + " An iPhone takes JPEG if Settings > Camera > Formats is set to “Most Compatible”."
)
RECORDING_REFUSAL = "it is a video or a sound recording. Attach a picture of it, or write down what is said."
PICKER_TYPES = (
    "image/png,image/jpeg,image/gif,image/webp,image/avif,image/bmp,image/tiff,application/pdf,text/*,"
    "application/json,.csv,.tsv,.tab,.jsonl,.ndjson,.xlsx,.xlsm,.xlsb,.xls,.ods,.parquet,.arrow,.feather,.dta,.gz,.zip,"
    ".txt,.md,.log,.py,.ipynb,.r,.sql,.js,.ts,.sh,.c,.cpp,.h,.java,.go,.rs,.yaml,.yml,.toml,.ini,.xml,.tex"
)
"""Types that the file picker of a browser offers at first. Without HEIC in this list, iPhones convert their pictures to
JPEG."""

_BMP_HEADER_BYTES = (12, 40, 52, 56, 64, 108, 124)
"""The sizes of the header that follows the first 14 bytes, by version. Texts can begin with “BM” too."""
_TIFF_MARKS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
RAW_SUFFIXES = frozenset({"dng", "cr2", "cr3", "nef", "nrw", "arw", "sr2", "srw", "orf", "rw2", "raf", "pef"})
"""Extensions of raw camera images. Read as a TIFF, most of them hold only a tiny preview."""
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_BRANDS_LIMIT_BYTES = 256


def find_other_image(data: bytes, suffix: str) -> str | None:
    """Return the MIME type of a picture that is converted; `None` for any other file. `suffix`: in lower case."""
    if data.startswith(_TIFF_MARKS) and suffix not in RAW_SUFFIXES:
        return TIFF
    if data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADER_BYTES:
        return BMP
    return AVIF if _brands(data) & _AVIF_BRANDS else None


def is_heic(data: bytes) -> bool:
    """Return whether the file is a picture in HEIC format."""
    brands = _brands(data)
    return bool(brands & _HEIC_BRANDS) and not brands & _AVIF_BRANDS


def _brands(data: bytes) -> set[bytes]:
    """Return the brands in the first box of an ISO media file, which name its formats; an empty set for other files."""
    if data[4:8] != b"ftyp":
        return set()
    end = min(int.from_bytes(data[:4], "big"), _BRANDS_LIMIT_BYTES)
    # The four bytes after the first brand are a version.
    return {data[8:12], *(data[start : start + 4] for start in range(16, end, 4))}
