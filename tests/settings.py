"""The settings of a test run and of the servers that tests start: the product's, except where tests need other values.

A variable `SETTING_<NAME>` replaces the setting of that name, for example `SETTING_TURN_LEASE_S=2`. Its value is JSON.
Only this module reads such variables, so they have no effect on an installation. Settings that were computed from the
replaced one keep their values.
"""

from __future__ import annotations

import json
import os

from config import settings as product

globals().update({name: value for name, value in vars(product).items() if name.isupper()})
for _name in [name.removeprefix("SETTING_") for name in os.environ if name.startswith("SETTING_")]:
    if _name not in globals():
        raise LookupError(f"SETTING_{_name} is set, but there is no setting {_name}.")
    globals()[_name] = json.loads(os.environ[f"SETTING_{_name}"])
