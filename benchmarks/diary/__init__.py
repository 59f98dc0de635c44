"""A written diary put through a host-shaped client: what a user would see, question by question."""
