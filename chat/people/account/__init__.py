"""The settings of a person: the pages below `/accounts/` that belong to neither the login nor the API."""
