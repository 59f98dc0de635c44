"""What may be said, in which revision and when: synchronous, without I/O, clock or randomness."""
