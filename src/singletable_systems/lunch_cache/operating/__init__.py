"""Lunch Cache: the system, its seeding, roles and alarms."""
