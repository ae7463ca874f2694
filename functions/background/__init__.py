"""Background functions: readers of the stream and the queue, scheduled functions, the seeds."""
