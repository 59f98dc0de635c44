"""The codebase index: which symbols a repository declares, where, and what refers to them."""
