"""Capacity units of reads and writes by AWS's published rules, and token buckets. Pure: time is an argument."""
