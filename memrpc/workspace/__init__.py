"""The workspace: what a repository's agents know, plan, hand over and agree on."""
