"""Alarms on what fails, is late or costs too much, and a dashboard, on stages that are watched."""

DOES = "alarms, a budget and a dashboard"
NEEDS = ()
