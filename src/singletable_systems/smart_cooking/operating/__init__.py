"""Smart Cooking: the system, its seeding and migrations, adoption of old tables, roles and alarms."""
