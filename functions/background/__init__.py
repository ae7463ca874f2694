"""The functions that nobody waits for: readers of the stream and the queue, the clock, the seeds."""
