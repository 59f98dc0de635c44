"""Proof that the engine speaks the protocol: requirements, transcripts, fixture and bridge."""
