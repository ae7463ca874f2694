"""Alarms on everything that has a bound, the alarm topic that they notify, and a dashboard."""
