"""What the pages of the documentation are made of."""
