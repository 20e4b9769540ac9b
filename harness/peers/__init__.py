"""Reference peers: machines without sockets, what runs them, and their faults and oddities."""
