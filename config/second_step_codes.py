"""Codes of the second step. `find_authenticator` checks a code without using it up; `claim_code` accepts it once."""

from __future__ import annotations

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    validate_totp_code,
    yield_hotp_counters_from_time,
)
from allauth.mfa.utils import decrypt
from django.db.models import Q

from chat.models import User


def find_authenticator(user: User | None, code: str) -> Authenticator | None:
    """Return the authenticator app or the recovery codes of the user for which this code is valid now.

    Nothing is stored.
    """
    rows = Authenticator.objects.filter(
        user=user, type__in=[Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES]
    )
    return next((row for row in rows if _has_code(row, code)), None)


def claim_code(authenticator: Authenticator, code: str) -> bool:
    """Store that a correct code was used. Return False if it was used before, or if a later code of the same app was.

    allauth remembers the codes of an app for a shorter time than they are valid. The row of the app remembers the time
    step of the last one.
    """
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        return bool(RecoveryCodes(authenticator).validate_code(code))
    secret = decrypt(authenticator.data["secret"])
    values = {step: format_hotp_value(hotp_value(secret, step)) for step in yield_hotp_counters_from_time()}
    step = next((step for step, value in values.items() if compare_user_code(actual=code, expected=value)), None)
    if step is None:
        # The code has expired since `find_authenticator` checked it.
        return False
    is_newer = Q(data__last_step__isnull=True) | Q(data__last_step__lt=step)
    rows = Authenticator.objects.filter(is_newer, pk=authenticator.pk)
    return bool(rows.update(data={**authenticator.data, "last_step": step}))


def _has_code(authenticator: Authenticator, code: str) -> bool:
    if authenticator.type == Authenticator.Type.TOTP:
        return bool(validate_totp_code(decrypt(authenticator.data["secret"]), code))
    unused = RecoveryCodes(authenticator).get_unused_codes()
    return any(compare_user_code(actual=code, expected=one) for one in unused)
