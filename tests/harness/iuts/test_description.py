"""Descriptions of implementations: names, files, and what is wrong with them."""

import pytest

from harness.errors import BadDescription
from harness.iuts.description import Embedded, Launched, Remote, known, resolve
from harness.links.addresses import Address

GOOD = """
name = "mine"
protocol = "zenoh"
roles = ["router", "client"]
dials = ["client"]

[process]
command = ["./mine", "--listen", "{listen}"]
"""


@pytest.fixture
def described(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return str(path)

    return write


def test_the_embedded_peer_has_its_first_role_by_default():
    description = resolve("peer:", "zenoh")
    assert (description.role, description.source) == ("router", Embedded())
    assert resolve("peer", "zenoh").role == "router"
    client = resolve("peer:client", "zenoh")
    assert client.is_dialling
    assert client.label == "peer:client"


def test_a_name_with_a_version_and_a_role():
    description = resolve("eclipse-zenoh==1.5.1:peer", "zenoh")
    assert (description.name, description.version, description.role) == ("eclipse-zenoh", "1.5.1", "peer")
    assert description.source.environment.version == "1.5.1"
    assert description.label == "eclipse-zenoh==1.5.1:peer"
    assert resolve("eclipse-zenoh", "zenoh").label == "eclipse-zenoh==1.10.2:router"
    assert (description.source.folder / "eclipse_zenoh.py").exists()


def test_an_address_is_an_implementation_that_runs_already():
    description = resolve("udp/[::1]:7447", "zenoh")
    assert description.source == Remote(Address("udp", "::1", 7447))
    assert (description.role, description.transports) == ("router", ("udp",))
    with pytest.raises(BadDescription, match="no role 'client'"):
        resolve("tcp/127.0.0.1:7447:client", "zenoh")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ux/my.server", Address("ux", "my.server")),
        ("tls/127.0.0.1:4711", Address("tls", "127.0.0.1", 4711)),
        ("tcp-stream/[::1]:4711", Address("tcp-stream", "::1", 4711)),
        ("tcp-framed/127.0.0.1:4711", Address("tcp", "127.0.0.1", 4711)),
    ],
)
def test_addresses_of_every_kind_take_a_role(text, address):
    for written in (text, f"{text}:server"):
        description = resolve(written, "pathfinder")
        assert description.source == Remote(address)
        assert (description.role, description.transports) == ("server", (address.transport,))


def test_a_file(described):
    path = described(GOOD)
    description = resolve(path, "zenoh")
    assert isinstance(description.source, Launched)
    assert (description.name, description.role, description.is_dialling) == ("mine", "router", False)
    assert resolve(f"{path}:client", "zenoh").is_dialling


def test_expectations_stand_beside_the_file(described, tmp_path):
    path = described('expectations = "known.toml"\n' + GOOD)
    assert resolve(path, "zenoh").expectations == tmp_path / "known.toml"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nobody", "unknown implementation 'nobody' of zenoh: known are eclipse-zenoh, peer"),
        ("no body", "unknown implementation"),
        ("", "unknown implementation"),
        ("eclipse-zenoh:king", "no role 'king': its roles are router, peer, client"),
        ("peer==1.0:", "no versions to choose from"),
        ("quic/127.0.0.1:7447", "unknown transport 'quic'"),
        ("./nowhere.toml", "cannot be read"),
    ],
)
def test_a_wrong_name_is_refused_with_the_reason(text, complaint):
    with pytest.raises(BadDescription, match=complaint):
        resolve(text, "zenoh")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tcp/127.0.0.1", "is not an address: expected TRANSPORT/HOST:PORT"),
        ("tcp/127.0.0.1:http", "is not an address"),
        ("ux/node", "zenoh does not travel over ux: there are tcp, udp"),
        (".", "is a folder, and a description is a file that ends in .toml"),
        (__file__, "is a file, and a description is a file that ends in .toml"),
        ("nowhere.toml", "cannot be read: No such file or directory$"),
    ],
)
def test_what_was_meant_as_an_address_or_a_file_is_told_so(text, complaint):
    with pytest.raises(BadDescription, match=complaint):
        resolve(text, "zenoh")


def test_an_unknown_protocol():
    with pytest.raises(BadDescription, match=r"unknown protocol 'smtp': known are .*zenoh"):
        resolve("peer:", "smtp")
    assert "eclipse-zenoh" in known("zenoh")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("dials", "dial"), "unknown key dial; known keys: name, protocol, roles, dials"),
        (('command = ["./mine"', 'comand = ["./mine"'), "unknown key process.comand; known keys: command"),
        (('name = "mine"\n', ""), "name is missing; known keys: name"),
        (('name = "mine"', "name = 7"), "name: a text belongs here, not a whole number"),
        (('["./mine", "--listen", "{listen}"]', '"./mine"'), r"process\.command: a list belongs here, not a text"),
        (("[process]", '[process]\nready = "soon"'), r"process\.ready: 'soon' is none of handshake, line"),
        (('"router", "client"', '"router", "client", "broker"'), "roles: broker: there are router, peer, client"),
        (('name = "mine"', 'name = "my own"'), "name: 'my own'"),
        (('"zenoh"', '"urbit"'), "protocol: this is an implementation of 'urbit', not of 'zenoh'"),
        (('dials = ["client"]', 'dials = ["king"]'), "dials: king: not among the roles router, client"),
        (('roles = ["router", "client"]\ndials = ["client"]', "roles = []"), "roles: name at least one"),
        (('dials = ["client"]', 'transports = ["quic"]'), "transports"),
        (('dials = ["client"]', "transports = []"), "transports: name at least one of tcp, udp"),
        (('dials = ["client"]', 'transports = ["memory"]'), "transports: memory: only our own peer is run inside"),
        (('dials = ["client"]', "time_scale = 0.0"), "time_scale: 0 is not positive"),
        (('dials = ["client"]', "embedded = true"), "process"),
        (('[process]\ncommand = ["./mine", "--listen", "{listen}"]', ""), "process"),
        (
            ("{listen}", "{lisen}"),
            "process.command: unknown placeholder in '{lisen}': lisen; known are connect",
        ),
        (("{listen}", "{"), "process.command: unknown placeholder"),
        (('["./mine", "--listen", "{listen}"]', "[]"), "process.command: is empty"),
        (("[process]", "[process]\nstart_timeout = -1.0"), "process.start_timeout: -1 s is not positive"),
        (("[process]", '[process]\nready = "soon"'), r"process.ready"),
        (("[process]", '[process]\nenv = { A = "{b}" }'), r"process.env.A: unknown placeholder"),
        (("[process]", "[process"), "not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_reason(described, change, complaint):
    assert change[0] in GOOD
    path = described(GOOD.replace(*change))
    with pytest.raises(BadDescription, match=complaint) as refusal:
        resolve(path, "zenoh")
    assert str(refusal.value).startswith(path)


def test_every_description_that_comes_with_goldwire_is_right():
    for name in known("zenoh"):
        for role in resolve(name, "zenoh").roles:
            assert resolve(f"{name}:{role}", "zenoh").role == role
