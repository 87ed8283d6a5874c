"""IR and facts in, a schedule and an array program out."""
