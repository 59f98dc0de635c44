"""Finding what was meant: text, ranking and excerpts over whatever the contexts ask to index."""
