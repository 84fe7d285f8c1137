"""What several steps on tensor cores share: access at the edges, swizzled tiles, fragments."""
