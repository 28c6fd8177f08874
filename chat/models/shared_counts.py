"""The table of Django's database cache. All processes use it to count logins and other attempts."""

from __future__ import annotations

from django.db import models


class SharedCount(models.Model):
    """One entry of the cache. Django's `DatabaseCache` reads and writes it, and prescribes the columns.

    `clearsessions` also deletes expired entries.
    """

    cache_key = models.CharField(primary_key=True, max_length=255)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
