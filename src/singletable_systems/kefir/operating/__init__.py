"""Kefir: the system, its seeding and migrations, roles and alarms."""
