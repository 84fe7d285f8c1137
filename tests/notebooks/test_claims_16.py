"""What lesson 16 says in prose, held against counts, machine code and records."""
