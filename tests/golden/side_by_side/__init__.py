"""Random requests, right and slightly wrong, sent to us and to AWS's own local build side by side."""
