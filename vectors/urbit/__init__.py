"""Urbit's golden vectors, and what makes packets of them."""
