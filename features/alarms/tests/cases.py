"""Alarms in tests of all features."""

from __future__ import annotations

from features.alarms.rights import Alarms

OPTIONS = (Alarms(email="ana@mail.example", budget=25),)
WATCHED = (Alarms(email="oncall@shop.example", budget=25),)
NOT_TYPED = {"aws cloudwatch set-alarm-state ": "the stage local has no alarms"}
RECIPES = (("features/alarms/README.md", ("A new alarm",)),)
