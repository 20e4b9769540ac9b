"""``ucast_url``: what is one, and what is said of what is none."""

import pytest

from wire.rai.urls import NoUcastUrl, UcastUrl, parse


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("pgm://host:7500", UcastUrl("pgm", "host", 7500)),
        ("PGM://127.0.0.1:1", UcastUrl("pgm", "127.0.0.1", 1)),
        ("udp+x://a.b-c.example:65535", UcastUrl("udp+x", "a.b-c.example", 65535)),
        ("pgm://[fe80::1]:80", UcastUrl("pgm", "fe80::1", 80)),
    ],
)
def test_urls(text: str, url: UcastUrl) -> None:
    assert parse(text) == url
    assert parse(str(url)) == url


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not like"),
        ("pgm://host:port", "not like"),  # as the document prints it
        ("pgm://host", "not like"),
        ("host:80", "not like"),
        ("pgm://host:80/", "not like"),
        ("pgm://user@host:80", "not like"),
        ("pgm://:80", "no host"),
        ("pgm://-host:80", "no host"),
        ("pgm://ho st:80", "no host"),
        ("pgm://host:0", "no port"),
        ("pgm://host:65536", "no port"),
        ("pgm://host:" + "9" * 5000, "no port"),
        ("pgm://[host]:80", "no address"),
        ("pgm://[fe80::1:80", "not like"),
    ],
)
def test_no_urls(text: str, why: str) -> None:
    with pytest.raises(NoUcastUrl, match=why):
        parse(text)
