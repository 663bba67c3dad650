"""What is in stock, what was ordered and what was sold."""
