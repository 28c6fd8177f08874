"""The URLs of all apps. `config.health` answers `/healthz` and `/readyz` before them."""

from __future__ import annotations

from allauth.account import views as accounts
from allauth.mfa.base import views as second_step
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from attachments.views import upload
from chat.admin.kernel_service import kernel_service
from chat.admin.overview import overview
from chat.people.quotas.pages import limited
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from config import mail_pages
from config.login import AdminLoginForm, is_signup_open, too_many_attempts
from config.mail_pages import is_mail_set_up
from config.second_step import SetUpView
from config.wrong_host import refuse_request

admin.site.site_header = "Plotline"
admin.site.site_title = "Plotline"
admin.site.index_title = gettext_lazy("Review")
admin.site.login_form = AdminLoginForm

handler400 = refuse_request
# allauth calls this view when a limit is reached.
handler429 = too_many_attempts

account_urlpatterns = [
    path(
        "login/",
        accounts.LoginView.as_view(extra_context={"is_signup_open": is_signup_open, "is_mail_set_up": is_mail_set_up}),
        name="account_login",
    ),
    path("logout/", accounts.logout, name="account_logout"),
    path("inactive/", accounts.account_inactive, name="account_inactive"),
    path("signup/", accounts.signup, name="account_signup"),
    path("reauthenticate/", accounts.reauthenticate, name="account_reauthenticate"),
    path("password/change/", accounts.password_change, name="account_change_password"),
    path("password/set/", accounts.password_set, name="account_set_password"),
    path("two-step/", second_step.index, name="mfa_index"),
    path("two-step/login/", second_step.authenticate, name="mfa_authenticate"),
    path("two-step/confirm/", second_step.reauthenticate, name="mfa_reauthenticate"),
    path("two-step/app/", never_cache(SetUpView.as_view()), name="mfa_activate_totp"),
    path("two-step/app/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("two-step/codes/", never_cache(recovery_codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path("two-step/codes/new/", recovery_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("two-step/codes/download/", recovery_codes.download_recovery_codes, name="mfa_download_recovery_codes"),
]

urlpatterns = [
    path("admin/python-service/", admin.site.admin_view(kernel_service), name="admin-kernel-service"),
    path("admin/overview/", admin.site.admin_view(overview), name="admin-overview"),
    path("admin/", admin.site.urls),
    path("accounts/", include(account_urlpatterns)),
    path("accounts/", include(mail_pages.urlpatterns)),
    path("accounts/", include("chat.people.account.urls")),
    path("attachments/", limited(CallThrottle, WriteThrottle)(upload), name="attachment-upload"),
    path("attachments/", include("attachments.urls")),
    path("", include("chat.api.urls")),
    path("", include("chat.urls")),
]
