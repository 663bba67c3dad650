"""Temperatures in Celsius, Fahrenheit and Kelvin."""
