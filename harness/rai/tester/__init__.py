"""The tester's side: sessions on a broker, and what a case works with."""
