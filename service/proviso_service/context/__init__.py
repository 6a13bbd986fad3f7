"""What the model is given beside a message: matter context, assets, and the items of the agent's catalog."""
