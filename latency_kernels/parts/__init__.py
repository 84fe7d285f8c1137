"""The work of the micro-benchmarks: outer products, and tasks with inputs and references."""
