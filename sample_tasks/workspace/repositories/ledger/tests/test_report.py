import unittest

from ledger.money import parse, show
from ledger.reading import read_entries
from ledger.report import lines

LEDGER = "payer,amount,what\nada,12.30,bread\nbob,-4,bottles\nada,0.05,bag\n"


class TestReport(unittest.TestCase):
    def test_amounts_are_read_and_shown(self):
        for text in ("12.30", "-4.00", "0.05", "-0.05"):
            self.assertEqual(show(parse(text)), text)

    def test_what_is_no_amount_is_refused(self):
        for text in ("", "1.5", "1,50", "one"):
            with self.assertRaises(ValueError):
                parse(text)

    def test_each_person_has_a_line(self):
        self.assertEqual(lines(read_entries(LEDGER)), ["ada: 12.35", "bob: -4.00"])
