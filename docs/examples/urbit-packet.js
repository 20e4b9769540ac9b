'use strict';
// Packets of Urbit's session-based notifications: what is on the wire, and the little that both programs need to run.
// A packet is one UDP datagram: [header prelude body]. `seal` makes one from a message, `open` a message from one;
// every packet that has to be dropped in silence is dropped in `open`, so the programs only see valid messages.
// All integers are little-endian, bit 0 is the least significant bit of the first byte.

const crypto = require('node:crypto');
const dgram = require('node:dgram');

// ---------------------------------------------------------------------------------------------- packet types

// Three bits: the lowest says request (fore, 0) or response (back, 1), the upper two say which protocol.
const SCRY_FORE = 0; // "give me this fragment of the value at this path"
const SCRY_BACK = 1; // the fragment; also sent unasked as the notification that was promised
const BEAT_FORE = 4; // heartbeat
const BEAT_BACK = 5; // answer to a heartbeat; with live = no it is a nack: "I know no such session"
const BOND_FORE = 6; // cancellation: "I need this no (longer)", the acknowledgement of a notification
const BOND_BACK = 7; // promise: "I do not have it yet, but will send it while the session with this id lives"
// 2 and 3 are Ames, the command protocol, which these programs do not speak.

const DATA_PER_FRAGMENT = 1024;
const SIGNATURE_BYTES = 64;
const LONGEST_PATH = 384;

/** Why a packet is dropped. Anything else that is thrown is a bug of ours. */
class Malformed extends Error {}

function check(condition, reason) {
  if (!condition) throw new Malformed(reason);
}

// ---------------------------------------------------------------------------------------------- bytes and atoms

/** Atoms are the unbounded natural numbers of Urbit. Bytes become one with the least significant byte first. */
function atomOf(bytes) {
  return BigInt('0x0' + Buffer.from(bytes).reverse().toString('hex')); // '0x0', so that no bytes give 0
}

function bytesOf(atom, width) {
  return Buffer.from(atom.toString(16).padStart(2 * width, '0'), 'hex').reverse();
}

/** Takes bytes off the front of a datagram, and never more than there are. */
class Reader {
  constructor(bytes) {
    this.rest = bytes;
  }

  take(count) {
    check(count <= this.rest.length, 'too short');
    const taken = this.rest.subarray(0, count);
    this.rest = this.rest.subarray(count);
    return taken;
  }
}

/** A slash before every segment, no empty segment, printable ASCII (0x20 to 0x7e; 0x2f is the slash itself). */
function isPath(text) {
  return text.length <= LONGEST_PATH && /^(\/[\x20-\x2e\x30-\x7e]+)+$/.test(text);
}

// ---------------------------------------------------------------------------------------------- jam

/**
 * Urbit's serialization of nouns, for a tuple of atoms: jam(a, b, c) is jam of [a b c], which is [a [b c]].
 * It writes bits, the first one lowest. Such a tuple never contains a cell twice, so only atoms can be references.
 */
function jam(...atoms) {
  let bits = 0n; // the output so far, as a number of `size` bits
  let size = 0n;
  const positions = new Map(); // atom → where it was first written

  const bitLength = (atom) => (atom === 0n ? 0n : BigInt(atom.toString(2).length));
  const put = (value, width) => {
    bits |= value << size;
    size += width;
  };
  const mat = (atom) => { // a number that tells its own length: length of the length in unary, the length, the number
    const length = bitLength(atom);
    const lengthOfLength = bitLength(length);
    put(1n << lengthOfLength, lengthOfLength + 1n);
    if (atom === 0n) return;
    put(length - (1n << (lengthOfLength - 1n)), lengthOfLength - 1n); // its highest bit is always 1: left out
    put(atom, length);
  };

  atoms.map(BigInt).forEach((atom, index) => {
    if (index < atoms.length - 1) put(0b01n, 2n); // a cell begins: 1, then 0; its head is this atom, its tail the rest
    const seen = positions.get(atom);
    if (seen !== undefined && bitLength(atom) > bitLength(seen)) { // only where a reference is shorter
      put(0b11n, 2n);
      mat(seen);
    } else {
      if (seen === undefined) positions.set(atom, size);
      put(0n, 1n);
      mat(atom);
    }
  });
  return bytesOf(bits, Number(size + 7n >> 3n));
}

// ---------------------------------------------------------------------------------------------- checksum

/** MurmurHash3, x86, 32 bits. */
function murmur3(bytes, seed) {
  const rotate = (x, by) => (x << by) | (x >>> (32 - by));
  const scramble = (k) => Math.imul(rotate(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593);
  const whole = bytes.length & ~3;
  let h = seed;
  for (let at = 0; at < whole; at += 4) {
    h = Math.imul(rotate(h ^ scramble(bytes.readInt32LE(at)), 13), 5) + 0xe6546b64 | 0;
  }
  if (bytes.length > whole) h ^= scramble(bytes.readUIntLE(whole, bytes.length - whole));
  h ^= bytes.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Urbit's 31-bit hash; it is never 0, so a hash of 0 is tried again with the next seed. */
function mug(bytes) {
  for (let seed = 0xcafebabe; seed < 0xcafebabe + 8; seed++) {
    const hash = murmur3(bytes, seed);
    const folded = (hash >>> 31) ^ (hash & 0x7fffffff);
    if (folded !== 0) return folded;
  }
  return 0x7fff;
}

/** Over every byte after header and origin, trailing zeros too (a heartbeat nearly always ends in some). */
const checksum = (bytes) => mug(bytes) & 0xfffff;

// ---------------------------------------------------------------------------------------------- signatures

// There is no PKI here: everybody computes everybody's key from the ship's number. A real ship would read its own key
// from its ring and ask Azimuth for the keys of others: these two functions are all that would change.

function signingKey(ship) {
  const sha512 = (data) => crypto.createHash('sha512').update(data).digest();
  const seed = sha512(sha512(ship.toString())).subarray(0, 32);
  const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex'); // DER before the seed of an Ed25519 key
  return crypto.createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
}

const verifyingKey = (ship) => crypto.createPublicKey(signingKey(ship));

const BOND = atomOf(Buffer.from('bond')); // %bond: keeps a request from being passed off as a cancellation
const cord = (path) => atomOf(Buffer.from(path, 'latin1'));

/** What the signature of each type covers. Heartbeats have none: they rest on nobody knowing the session id. */
const SIGNED = {
  [SCRY_FORE]: (m) => jam(cord(m.path), m.fragment),
  [SCRY_BACK]: (m) => jam(cord(m.path), m.fragment, atomOf(m.data)),
  [BOND_FORE]: (m) => jam(BOND, cord(m.path), m.fragment),
  [BOND_BACK]: (m) => jam(BOND, m.id, cord(m.path), m.fragment),
};

const sign = (message, ship) => crypto.sign(null, SIGNED[message.type](message), signingKey(ship));
const verify = (message, ship) =>
  crypto.verify(null, SIGNED[message.type](message), verifyingKey(ship), message.signature);

// ---------------------------------------------------------------------------------------------- bodies

/** The fields of each body, in their order. */
const BODY = {
  [SCRY_FORE]: ['signature', 'fragment', 'path'],
  [SCRY_BACK]: ['fragment', 'path', 'signature', 'total', 'data'],
  [BEAT_FORE]: ['id', 'number'],
  [BEAT_BACK]: ['id', 'number', 'live'],
  [BOND_FORE]: ['signature', 'fragment', 'path'],
  [BOND_BACK]: ['id', 'signature', 'fragment', 'path'],
};

const u64 = { write: (value) => bytesOf(value, 8), read: (reader) => atomOf(reader.take(8)) };
const u32 = { write: (value) => bytesOf(BigInt(value), 4), read: (reader) => reader.take(4).readUInt32LE() };

const FIELD = {
  id: u64,
  number: u64,
  total: u32, // how many fragments the value has; not signed, so nothing should depend on it alone
  live: { // like every flag of Urbit: 0 is yes, 1 is no; seven bits of padding
    write: (live) => Buffer.from([live ? 0 : 1]),
    read: (reader) => (reader.take(1)[0] & 1) === 0,
  },
  signature: { write: (bytes) => bytes, read: (reader) => reader.take(SIGNATURE_BYTES) },
  fragment: {
    write: u32.write,
    read(reader) {
      const fragment = u32.read(reader);
      check(fragment > 0, 'fragments count from 1');
      return fragment;
    },
  },
  path: { // two bytes of length, then the text
    write: (path) => Buffer.concat([bytesOf(BigInt(path.length), 2), Buffer.from(path, 'latin1')]),
    read(reader) {
      const path = reader.take(reader.take(2).readUInt16LE()).toString('latin1');
      check(isPath(path), 'not a path');
      return path;
    },
  },
  data: { // everything that is left
    write: (bytes) => bytes,
    read(reader) {
      check(reader.rest.length <= DATA_PER_FRAGMENT, 'too much data');
      return reader.take(reader.rest.length);
    },
  },
};

// ---------------------------------------------------------------------------------------------- header, prelude

// The header is one 32-bit word:
//   bits 0-2 packet type | 3 zero for Ames | 4-6 version | 7-8 sender's rank | 9-10 receiver's rank
//   | 11-30 checksum | 31 zero if relayed: then six bytes of origin follow
// The prelude: a byte with both ticks (sender's low), the sender's address, the receiver's. A rank is 0 for galaxies and
// stars, 1 planets, 2 moons, 3 comets; an address has 2 << rank bytes. A tick counts a ship's changes of keys, mod 16.

/** One datagram from the ship `from` to the ship `to`, both { ship, rank, tick }, signed by the sender if its type is. */
function seal(type, from, to, fields) {
  const message = { ...fields, type };
  if (SIGNED[type]) message.signature = sign(message, from.ship);
  const covered = Buffer.concat([
    Buffer.from([from.tick | to.tick << 4]),
    bytesOf(from.ship, 2 << from.rank),
    bytesOf(to.ship, 2 << to.rank),
    ...BODY[type].map((name) => FIELD[name].write(message[name])),
  ]);
  const header = Buffer.alloc(4);
  // Bit 3 keeps nodes that know nothing of these types from taking them for Ames. Bit 31: nobody relayed this.
  header.writeUInt32LE((type | 1 << 3 | from.rank << 7 | to.rank << 9 | checksum(covered) << 11 | 1 << 31) >>> 0);
  return Buffer.concat([header, covered]);
}

/** The message in a datagram for `ship`: { type, from, to } and the fields of its body. Throws Malformed if it is not one. */
function open(datagram, ship) {
  const reader = new Reader(datagram);
  const header = reader.take(4).readUInt32LE();
  const type = header & 7; // bit 3 says nothing that these three do not: not looked at
  check((header >>> 4 & 7) === 0, 'unknown version');
  if (header >>> 31 === 0) reader.take(6); // the origin is a relay's note, which neither checksum nor signature covers
  check((header >>> 11 & 0xfffff) === checksum(reader.rest), 'wrong checksum');

  const ticks = reader.take(1)[0];
  const from = { rank: header >>> 7 & 3, tick: ticks & 15 };
  const to = { rank: header >>> 9 & 3, tick: ticks >>> 4 };
  from.ship = atomOf(reader.take(2 << from.rank));
  to.ship = atomOf(reader.take(2 << to.rank));
  check(to.ship === ship, 'not for us');

  check(BODY[type], 'a type we do not speak');
  const message = { type, from, to };
  for (const name of BODY[type]) message[name] = FIELD[name].read(reader);
  check(reader.rest.length === 0, 'too long');
  if (SIGNED[type]) check(verify(message, from.ship), 'invalid signature'); // last, since it costs the most
  return message;
}

// ---------------------------------------------------------------------------------------------- running

const log = (text) => process.stderr.write(`${text}\n`);

/** Seconds of the protocol. A tester has no patience for minutes: GOLDWIRE_TEMPO of them pass in one of the clock. */
const TEMPO = Number(process.env.GOLDWIRE_TEMPO ?? 1);
const now = () => performance.now() / 1000 * TEMPO;
const after = (seconds, action) => setTimeout(action, seconds * 1000 / TEMPO);

/** Sends at once, then after gaps of 1, 2, 4 ... at most 30 seconds, until the function that it returns is called. */
function repeat(send) {
  let gap = 1;
  let timer;
  const step = () => {
    send();
    timer = after(gap, step);
    gap = Math.min(2 * gap, 30);
  };
  step();
  return () => clearTimeout(timer);
}

/** 'udp/127.0.0.1:20001' → { address, port } */
function locator(text) {
  const match = /^udp\/(.+):(\d+)$/.exec(text ?? '');
  if (!match) throw new Error(`not a locator: ${text}`);
  return { address: match[1], port: Number(match[2]) };
}

/** A socket bound to `local` that hands `handle` the valid messages for `ship`. Returns send(datagram, { address, port }). */
function network(ship, local, handle) {
  const socket = dgram.createSocket('udp4');
  socket.on('error', (error) => { // of bind: an error of sending goes to the callback there
    log(error.message);
    process.exit(1);
  });
  socket.on('message', (datagram, remote) => {
    if (remote.port === 0) return; // can be forged, and node throws when asked to answer there
    try {
      handle(open(datagram, ship), remote);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      log(`dropped ${datagram.length} bytes from ${remote.address}:${remote.port}: ${error.message}`);
    }
  });
  socket.bind(local);
  return (datagram, remote) =>
    socket.send(datagram, remote.port, remote.address, (error) => error && log(error.message));
}

/** Control lines: `SEQ VERB ARGS` on standard input, `SEQ ok` or `SEQ error TEXT` on standard output. */
function control(verbs) {
  const table = { verbs: () => Object.keys(verbs).join(' '), ...verbs };
  const answer = (line) => {
    const match = /^(\d+) (\S+) ?(.*)$/s.exec(line);
    if (!match) return log(`not a control line: ${line}`);
    const [, seq, verb, rest] = match;
    try {
      if (!Object.hasOwn(table, verb)) throw new Error(`unsupported verb '${verb}'`);
      const text = table[verb](rest);
      process.stdout.write(text ? `${seq} ok ${text}\n` : `${seq} ok\n`);
    } catch (error) {
      process.stdout.write(`${seq} error ${error.message}\n`);
    }
  };
  let unfinished = ''; // not node's readline: for it, several characters of a TEXT would end the line
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (unfinished + chunk).split('\n');
    unfinished = lines.pop();
    lines.forEach(answer);
  });
  process.stdin.on('end', () => process.exit(0));
  process.on('SIGTERM', () => process.exit(0));
}

module.exports = {
  SCRY_FORE, SCRY_BACK, BEAT_FORE, BEAT_BACK, BOND_FORE, BOND_BACK, DATA_PER_FRAGMENT,
  Malformed, isPath, jam, mug, murmur3, seal, open, now, after, repeat, locator, network, control, log,
};
