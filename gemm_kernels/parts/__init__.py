"""What several rungs share: edges, outer products, tiles in shared memory, lane maps, slices."""
