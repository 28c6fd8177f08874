"""Commands find an account by its name, ignoring case."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from chat.models import ApiToken, User
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("known", "name"),
    [("Marie", "MARIE"), ("Marie", "\uff2d\uff41\uff52\uff49\uff45"), ("José", "JOSÉ"), ("Иван", "иван")],
)
def test_commands_find_a_user_by_name_in_any_case_and_width(
    monkeypatch: pytest.MonkeyPatch, known: str, name: str
) -> None:
    user, out = make_user(known), io.StringIO()
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "second-pass-22x")
    with pytest.raises(CommandError, match="already taken"):
        call_command("createsuperuser", interactive=False, username=name, email="n@localhost")
    assert list(User.objects.all()) == [user]
    call_command("create_api_token", name.swapcase(), stdout=out)
    token = ApiToken.objects.authenticate(out.getvalue().strip())
    assert token is not None
    assert token.owner == user
