"""What is fetched from the web, under a guard."""
