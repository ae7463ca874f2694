"""The functions in the background: readers of the stream and the queue, the clock, the seeds."""
