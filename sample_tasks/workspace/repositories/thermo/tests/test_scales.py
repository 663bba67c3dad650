import unittest

from thermo.scales import celsius_to_fahrenheit, celsius_to_kelvin, fahrenheit_to_celsius


class TestScales(unittest.TestCase):
    def test_water_boils(self):
        self.assertEqual(fahrenheit_to_celsius(212), 100)

    def test_water_freezes(self):
        self.assertEqual(fahrenheit_to_celsius(32), 0)

    def test_there_and_back(self):
        for degrees in (-40, 0, 37, 100):
            self.assertAlmostEqual(fahrenheit_to_celsius(celsius_to_fahrenheit(degrees)), degrees)

    def test_nothing_is_colder_than_absolute_zero(self):
        self.assertEqual(celsius_to_kelvin(-273.15), 0)
        with self.assertRaises(ValueError):
            celsius_to_kelvin(-300)
