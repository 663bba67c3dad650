"""Keeps who paid what and says who owes whom."""
