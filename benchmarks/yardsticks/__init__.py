"""The servers that memrpc's engine is measured against, and the engine with the same one tool."""
