"""The oddities of the reference server and client: legal, unusual, and to be forgiven by every case and monitor."""
