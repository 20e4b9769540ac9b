"""The oddities of the reference peers: legal, unusual, and to be forgiven by every case and monitor."""
