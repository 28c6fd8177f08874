"""The admin of quotas: limits of people and groups, and what people have used."""

from __future__ import annotations

from django.contrib import admin
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from chat.admin.base import ReadOnlyAdmin
from chat.models import Quota, QuotaUse
from chat.people.quotas.resources import DAILY, Resource, ResourceUsage, day_of, words
from chat.people.quotas.usage import read_usage
from chat.vocabulary.sentences import translate_sentence

NO_LIMIT = "no limit"


def usage_text(user_id: int) -> str:
    """Return one line for each resource: what a person has used today or stores, and the limit."""
    usages = read_usage(user_id, Resource, day=day_of(timezone.now()))
    return "\n".join(_usage_line(resource, usage) for resource, usage in usages.items())


def _usage_line(resource: Resource, usage: ResourceUsage) -> str:
    used = words(resource, max(0, usage.used))
    limit = NO_LIMIT if usage.limit is None else words(resource, usage.limit)
    text = (
        gettext("%(used)s of %(limit)s today") if resource.is_daily else gettext("%(used)s of %(limit)s in all files")
    )
    line = text % {"used": translate_sentence(used), "limit": translate_sentence(limit)}
    if not usage.estimated:
        return line
    estimated = translate_sentence(words(resource, usage.estimated))
    return f"{line} {gettext('(about %(amount)s, estimated)') % {'amount': estimated}}"


@admin.register(Quota)
class QuotaAdmin(admin.ModelAdmin[Quota]):
    """The limits of one person or group. Empty: the limit of the groups, or else of everyone, applies. 0: no limit."""

    list_display = ("__str__", *(resource.limit for resource in Resource))
    list_select_related = ("user", "group")
    search_fields = ("user__username", "group__name")
    raw_id_fields = ("user",)
    fieldsets = (
        (None, {"fields": (("user", "group"),)}),
        (
            gettext_lazy("Limits"),
            {
                "fields": tuple(resource.limit for resource in Resource),
                "description": gettext_lazy(
                    "Empty: the limit of their groups, or else the one for everyone. 0: no limit. Of several"
                    " groups the highest limit applies. A day begins at 00:00 UTC."
                ),
            },
        ),
        (gettext_lazy("Usage"), {"fields": ("usage",)}),
    )
    readonly_fields = ("usage",)

    @admin.display(description=gettext_lazy("used of the limits"))
    def usage(self, quota: Quota) -> str:
        """Return what the person has used, and the limits. A group has no usage of its own; a sentence says this."""
        return usage_text(quota.user_id) if quota.user_id else gettext("A group has no usage of its own.")


@admin.register(QuotaUse)
class QuotaUseAdmin(ReadOnlyAdmin[QuotaUse]):
    """What one person has used on one day."""

    list_display = ("day", "user", *(resource.counter for resource in DAILY))
    list_filter = ("day",)
    list_select_related = ("user",)
    search_fields = ("=user__username",)
