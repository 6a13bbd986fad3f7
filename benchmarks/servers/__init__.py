"""Servers that run as processes of their own. Each prints one line of JSON when it is ready and exits when its standard
input is closed, so that none can outlive the benchmark."""
