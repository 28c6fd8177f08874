"""Mounts each capability's URLs."""

from __future__ import annotations

from allauth.account import views as accounts
from django.contrib import admin
from django.urls import include, path

from chat.admin.overview import overview
from config import health
from config.login import AdminLoginForm, is_signup_open

admin.site.site_header = "Plotline"
admin.site.site_title = "Plotline"
admin.site.index_title = "Review"
admin.site.login_form = AdminLoginForm

# Without allauth's pages about e-mail: accounts here have none, and nothing here sends any.
account_urlpatterns = [
    path(
        "login/",
        accounts.LoginView.as_view(extra_context={"is_signup_open": is_signup_open}),
        name="account_login",
    ),
    path("logout/", accounts.logout, name="account_logout"),
    path("inactive/", accounts.account_inactive, name="account_inactive"),
    path("signup/", accounts.signup, name="account_signup"),
    path("reauthenticate/", accounts.reauthenticate, name="account_reauthenticate"),
    path("password/change/", accounts.password_change, name="account_change_password"),
    path("password/set/", accounts.password_set, name="account_set_password"),
]

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/overview/", admin.site.admin_view(overview), name="admin-overview"),
    path("admin/", admin.site.urls),
    path("accounts/", include(account_urlpatterns)),
    path("attachments/", include("attachments.urls")),
    path("", include("chat.api.urls")),
    path("", include("chat.urls")),
]
