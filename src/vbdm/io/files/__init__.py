"""Reading: from a file to a table, and from a table to the points of an estimate."""
