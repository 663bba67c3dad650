import unittest

from ledger.money import split


class TestSplit(unittest.TestCase):
    def test_no_cent_is_lost(self):
        for cents in (10000, 10001, 1, 0, -100):
            for people in (1, 2, 3, 7):
                self.assertEqual(sum(split(cents, people)), cents)

    def test_the_first_pay_what_is_left(self):
        self.assertEqual(split(10000, 3), [3334, 3333, 3333])
        self.assertEqual(split(10001, 2), [5001, 5000])

    def test_a_refund_is_split_alike(self):
        self.assertEqual(split(-100, 3), [-34, -33, -33])

    def test_large_amounts_are_exact(self):
        self.assertEqual(split(10**17 + 1, 2), [5 * 10**16 + 1, 5 * 10**16])
