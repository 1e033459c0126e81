"""How sure a predicted time is: intervals, the numbers that it leans on, ties, and what would settle them."""
