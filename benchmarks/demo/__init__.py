"""memrpc's main job on a real conversation, told as it happens."""
