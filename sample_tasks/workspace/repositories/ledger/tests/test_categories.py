import unittest

from ledger.entries import Entry
from ledger.reading import read_entries
from ledger.report import by_category, category_lines

LEDGER = """payer,amount,what,category
ada,12.30,bread,food
bob,7.01,cheese,food
ada,30.00,train,travel
bob,1.00,stamp,
"""


class TestCategories(unittest.TestCase):
    def test_an_entry_has_a_category(self):
        self.assertEqual(Entry("ada", 5, "bag").category, "other")
        self.assertEqual(Entry("ada", 5, "bag", "food").category, "food")

    def test_the_column_is_read(self):
        self.assertEqual([entry.category for entry in read_entries(LEDGER)], ["food", "food", "travel", "other"])

    def test_files_without_the_column_are_read_as_before(self):
        (entry,) = read_entries("payer,amount,what\nada,1.00,bread\n")
        self.assertEqual(entry, Entry("ada", 100, "bread", "other"))

    def test_categories_are_summed_the_largest_first(self):
        self.assertEqual(
            list(by_category(read_entries(LEDGER)).items()), [("travel", 3000), ("food", 1931), ("other", 100)]
        )

    def test_the_report_says_the_sum_and_the_average(self):
        self.assertEqual(
            category_lines(read_entries(LEDGER)),
            ["travel: 30.00 (average 30.00)", "food: 19.31 (average 9.66)", "other: 1.00 (average 1.00)"],
        )

    def test_a_large_average_is_exact(self):
        entries = [Entry("ada", 10**17 + 1, "ship", "travel"), Entry("bob", 10**17, "ship", "travel")]
        self.assertEqual(category_lines(entries), ["travel: 2000000000000000.01 (average 1000000000000000.01)"])
