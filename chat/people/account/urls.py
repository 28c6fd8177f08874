"""URLs of the settings of an account. Those of logins, passwords and API tokens are elsewhere."""

from __future__ import annotations

from django.urls import path

from chat.people.account import deletion, logins, pages, usage

urlpatterns = [
    path("", pages.first_page, name="account"),
    path("profile/", pages.profile, name="account_profile"),
    path("appearance/", pages.appearance, name="account_appearance"),
    path("defaults/", pages.defaults, name="account_defaults"),
    path("logins/", logins.logins, name="account_logins"),
    path("logins/end/", logins.logins_end, name="account_logins_end"),
    path("logins/<slug:login_id>/end/", logins.login_end, name="account_login_end"),
    path("usage/", usage.usage, name="account_usage"),
    path("delete/", deletion.account_delete, name="account_delete"),
    path("delete/keep/", deletion.account_keep, name="account_keep"),
]
