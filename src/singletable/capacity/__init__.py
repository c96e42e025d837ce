"""Units: what a read or write consumes, by AWS's published rules."""
