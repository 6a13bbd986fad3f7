"""Tools of other servers, which speak the Model Context Protocol: what is known of them, and their lives."""
