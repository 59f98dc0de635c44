"""memrpc: long-term memory for AI agents, served to any MCP host over stdio."""

__version__ = "0.1.0"
