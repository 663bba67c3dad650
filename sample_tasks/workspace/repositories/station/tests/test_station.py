import unittest
import warnings

import plainunits
from station.readings import pressure, wind
from station.report import known, line


class TestStation(unittest.TestCase):
    def test_it_runs_on_the_new_version(self):
        self.assertEqual(plainunits.__version__, "2.0")

    def test_readings_are_converted(self):
        self.assertAlmostEqual(wind(10), 18.52)
        self.assertAlmostEqual(pressure(29.92), 1013.208, places=2)

    def test_the_report(self):
        self.assertEqual(line(10, 29.92), "wind 18.5 km/h, pressure 1013 hPa")

    def test_unknown_units_are_told_from_known_ones(self):
        self.assertTrue(known("km/h"))
        self.assertFalse(known("furlong"))

    def test_nothing_deprecated_is_used(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            line(5, 30)
