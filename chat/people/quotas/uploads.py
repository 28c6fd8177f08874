"""Quotas of files. `count_upload` is the function that the setting `UPLOAD_COUNTER` names."""

from __future__ import annotations

from attachments.validation import RefusedUpload
from chat.people.quotas.enforcement import check_quota, spend_quota
from chat.people.quotas.resources import QuotaExceeded, Resource


class UploadQuotaExceeded(QuotaExceeded, RefusedUpload):
    """A file would exceed a quota."""


def count_upload(owner_id: int, name: str, size_bytes: int) -> None:
    """Count a file that is about to be stored, see `attachments.store`.

    Raises UploadQuotaExceeded if it exceeds a quota.
    """
    check_quota(owner_id, Resource.STORAGE, size_bytes, subject=f"“{name}”", error=UploadQuotaExceeded)
    spend_quota(owner_id, {Resource.UPLOADS: size_bytes}, subject=f"“{name}”", error=UploadQuotaExceeded)
