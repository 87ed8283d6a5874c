"""Python source in, regions in the IR out."""
