"""`telltale isolate` on a store that is too large for one machine: the same figures, computed by Spark."""
