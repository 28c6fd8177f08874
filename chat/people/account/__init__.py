"""The settings of a person: the pages below `/accounts/`, except those of the login and of API tokens."""
