"""Settings of accounts and logins."""

from __future__ import annotations

from config.env import Env
from config.rest import API_WRITES_PER_MINUTE

env = Env()

AUTHENTICATION_BACKENDS = [
    # This backend is first: a name that is exactly a former name means the account that had it, even if another account
    # now has this name and the same password.
    "config.former_names.FormerNamesBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

#: Whether visitors may create an account. If this is off, staff create accounts in the admin.
ALLOW_SIGNUP = env.boolean("ALLOW_SIGNUP", default=True)
#: Days between the moment when a person deletes their account and its deletion. Until then they can log in and keep it.
ACCOUNT_DELETION_DAYS = 7
ACCOUNT_ADAPTER = "config.login.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
#: An account needs no mail address. If mail is set up, an account can have one, which is confirmed before it is used.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_CHANGE_EMAIL = True
#: The page after an address was confirmed, if its owner is logged in. The default page, a conversation, would not say
#: that it was confirmed.
ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL = "account_email"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
#: Adding an address asks for the password again, because a new address can be used to set a new password.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_FORMS = {
    "login": "config.login_forms.LoginForm",
    "reset_password": "config.login_forms.ConfirmedResetForm",
}
ACCOUNT_LOGOUT_ON_GET = False
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
#: Limits of logins, by allauth's rules. A key of `login_failed` is a name together with an address (`config.login`), so
#: wrong passwords lock out neither other people behind the same address, nor the same person at another one. The limits
#: by address are for attackers who try many names. Sign-ups are limited as calls of the API are. The keys of the last
#: three are accounts, and the browsers that `config.known_browsers` knows for them; see `config.attempts`.
ACCOUNT_RATE_LIMITS = {
    "login": "300/m/ip",
    "login_failed": "5/5m/key,200/5m/ip",
    "signup": f"{API_WRITES_PER_MINUTE}/m/ip",
    # There is no limit by mail address, because strangers would use it up. `reset_mail` limits the number of mails.
    "reset_password": "20/m/ip,100/d/ip",
    "login_account": "50/d/key",
    "second_step": "5/5m/key,30/d/key,200/5m/ip",
    "reset_mail": "5/d/key",
}
#: Two-step login (`config.second_step`). A code is also accepted 30 s early or late, because their clocks differ.
MFA_ADAPTER = "config.second_step.SecondStepAdapter"
MFA_FORMS = {
    "authenticate": "config.login_forms.SecondStepForm",
    "reauthenticate": "config.login_forms.SecondStepConfirmationForm",
}
MFA_TOTP_ISSUER = "Plotline"
MFA_TOTP_TOLERANCE = 1
#: The counts of these limits are in the database, so all processes share them, and a restart forgets none. `process`
#: holds counts of calls for each process, because they would cost the database too much. With the default of 300
#: entries, many names would remove the counts of others.
CACHES = {
    "default": {
        "BACKEND": "config.attempts.SharedCounts",
        "LOCATION": "chat_sharedcount",
        "KEY_FUNCTION": "config.attempts.hash_key",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}},
}
