"""Parts that several steps share: edges, outer products, shared-memory tiles, lane maps, slices."""
