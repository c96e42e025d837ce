"""Whether a request has the shape that its operation takes: the shapes, their constraints, AWS's messages."""
