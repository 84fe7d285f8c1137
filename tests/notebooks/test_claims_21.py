"""What lesson 21 says in prose, held against counts, machine code and records."""
