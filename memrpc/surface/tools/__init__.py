"""One folder a context, one handler a tool: arguments, one call into the context, result."""
