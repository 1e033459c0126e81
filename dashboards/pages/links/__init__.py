"""The page of transfers between ranks."""
