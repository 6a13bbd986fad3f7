"""The tools that the agent may call, one file each; they are unary RPCs as well. `base` says what a tool is, `registry`
finds tools by name, and `external` holds the tools of other servers."""
