"""PerfectIt: keys, entities, access patterns and the design; the formulas of scores and words."""
