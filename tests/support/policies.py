"""Policies for tests."""

from __future__ import annotations


def smoke_policy(name: str = "own", suite: str = "smoke", more: str = "") -> str:
    """One suite on every cell; `lead` approves waivers. `more` is appended: further tables."""
    return f"""schema = "quarry.policy/1"
name = "{name}"
max_age = "14d"
approvers = ["lead"]
[[require]]
platforms = ["*"]
families = ["*"]
pythons = ["*"]
suites = ["{suite}"]
{more}"""
