"""The roles, as cases name them."""

PUBLISHER = ("publisher",)
SUBSCRIBER = ("subscriber",)
