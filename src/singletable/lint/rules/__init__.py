"""The rules, one module each: `RULE` is its row, `check` looks for it; the page of the same name explains it."""
