"""Programs that run as processes of their own: each prints one line of JSON when it is ready and ends with its
standard input, so that none can outlive the benchmark."""
