"""Actions of every list of the admin refuse ids that cannot be ids."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.factories import make_user

LISTS = [model for model, model_admin in admin.site._registry.items()]


@pytest.mark.django_db
@pytest.mark.parametrize("model", LISTS, ids=lambda model: model._meta.label)
def test_a_malformed_id_is_refused(model: type[Model]) -> None:
    superuser = make_user(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(superuser)
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    request = RequestFactory().get(url)
    request.user = superuser
    for action in admin.site._registry[model].get_actions(request):
        for selected in ("not-an-id", "9" * 40, "\x00"):
            response = client.post(url, {"action": action, "_selected_action": selected, "index": "0"})
            assert response.status_code in (200, 302), f"{action} with {selected!r}"
