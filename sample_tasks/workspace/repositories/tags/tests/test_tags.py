import unittest

from tags.finding import find_tags
from tags.suggesting import suggest

NOTES = ["#garden #spring #seeds", "#garden #spring", "#garden #tools #rust", "#kitchen #knives"]


class TestTags(unittest.TestCase):
    def test_tags_come_in_their_order(self):
        self.assertEqual(find_tags("#Spring in the #garden, #spring again, with #seeds"), ["spring", "garden", "seeds"])

    def test_what_is_no_tag_is_left(self):
        self.assertEqual(find_tags("issue#12 and # nothing"), [])

    def test_the_most_frequent_is_suggested_first(self):
        self.assertEqual(suggest("about the #garden", NOTES, 1), ["spring"])

    def test_equals_come_by_the_alphabet(self):
        self.assertEqual(suggest("about the #garden", NOTES, 4), ["spring", "rust", "seeds", "tools"])
