"""What the codebase's handlers and resources share: the repository, and how answers are shown."""
