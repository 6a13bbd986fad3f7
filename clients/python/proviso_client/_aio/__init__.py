"""Contains the client for asyncio."""
