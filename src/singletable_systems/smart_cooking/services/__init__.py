"""Smart Cooking: what users do."""
