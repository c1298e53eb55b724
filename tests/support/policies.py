"""Policies for tests."""

from __future__ import annotations

import json


def smoke_policy(name: str = "own", suite: str = "smoke", more: str = "", max_age: str = "14d") -> str:
    """One suite on every cell; `lead` approves waivers. `more` is appended: further tables."""
    lacks = [word for word, table in (("nothing_expected", "[expect]"), ("unsigned", '"evidence"')) if table not in more]
    if suite != "rocm-sdk" and "digest = " not in more:
        lacks.append("any_command")
    return f"""schema = "quarry.policy/1"
name = "{name}"
max_age = "{max_age}"
approvers = ["lead"]
openly = {json.dumps(lacks)}
[[require]]
platforms = ["*"]
families = ["*"]
pythons = ["*"]
suites = ["{suite}"]
{more}"""
