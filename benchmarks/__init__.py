"""What is measured, and the demonstration."""
