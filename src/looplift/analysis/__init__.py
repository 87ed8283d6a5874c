"""IR and live-in values in, facts out."""
