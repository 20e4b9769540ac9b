"""The gate: the pytest plugin, ``goldwire test``, and what a person reads."""
