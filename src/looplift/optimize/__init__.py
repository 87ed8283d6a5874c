"""Array programs in, array programs with less work out."""
