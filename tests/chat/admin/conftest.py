"""Fixtures for the tests of the admin."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.chat.admin.factories import client_of, make_account


@pytest.fixture
def reviewer(db: None) -> Client:
    """A client that is logged in as a member of the group Reviewer, with the username `reviewer`."""
    return client_of(make_account("reviewer"))


@pytest.fixture
def superuser(db: None) -> Client:
    """A client that is logged in as a superuser, with the username `superuser`."""
    return client_of(make_account("superuser"))
