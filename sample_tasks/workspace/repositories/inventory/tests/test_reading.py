import unittest

from inventory.orders import Order, read_orders
from inventory.sales import Sale, read_sales
from inventory.stock import Stock, read_stock

READERS = (read_stock, read_orders, read_sales)


class TestReading(unittest.TestCase):
    def test_each_kind_is_read(self):
        self.assertEqual(read_stock("Bolt; 12; A3"), [Stock("bolt", 12, "A3")])
        self.assertEqual(read_orders("Nut; 5; ACME"), [Order("nut", 5, "ACME")])
        self.assertEqual(read_sales("Nut; 1; Bob"), [Sale("nut", 1, "Bob")])

    def test_the_kinds_stay_what_they_are(self):
        for read, kind in zip(READERS, (Stock, Order, Sale), strict=True):
            self.assertIs(type(read("a; 1; b")[0]), kind)

    def test_comments_and_empty_lines_hold_nothing(self):
        for read in READERS:
            self.assertEqual(len(read("# all of it\n\n bolt ; 1 ; x # the last\n")), 1)

    def test_errors_say_the_line(self):
        wrong = {"a; 1": "expected 3 fields; found 2", "; 1; x": "the item has no name", "a; x; y": "expected a count"}
        for read in READERS:
            for line, message in wrong.items():
                with self.assertRaisesRegex(ValueError, f"line 2: {message}"):
                    read(f"bolt; 1; x\n{line}")
