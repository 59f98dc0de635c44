"""What the workspace's handlers share: the visit, bulk calls, and how each subject is shown."""
