"""PerfectIt: what users do, and how cards are found."""
