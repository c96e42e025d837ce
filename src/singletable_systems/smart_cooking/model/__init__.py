"""Smart Cooking: keys, names, entities, access patterns and the design."""
