"""The seam: the only place where both the protocol and the memory are visible."""
