"""The lake: what runs, campaigns and captures leave behind, as tables, and the jobs that fill and read them."""
