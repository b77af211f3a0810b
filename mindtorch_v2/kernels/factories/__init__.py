"""New tensors: of sizes, of numbers, of other tensors, and of another dtype or layout."""
