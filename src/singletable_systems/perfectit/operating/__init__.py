"""PerfectIt: the system, its stream, seeding and migrations, roles and alarms."""
