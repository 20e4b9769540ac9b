'use strict';
// A session: one run of a node on one connection. It says HELLO, then heartbeats, and comes to trust other sessions.
//
// A digest proves that a message comes from somebody who knows a user's password, and nothing about when: it may be a
// recording of a session that is long over. So we trust a session only when it has answered something that we have just
// made up, a time with a cnonce: a publisher answers our HELLO or heartbeat, any session our own answer to its.
//
// What is to be done with messages is up to the node, an object with these members, of which it may lack all but the
// first two:
//
//   begin(session)                   a promise: what it wants to hear has been subscribed, and HELLO may be said
//   message(subject, members, peer)  a message of a trusted peer, other than those of sessions
//   trusted(peer)                    it is trusted from now on
//   beat(peer, missed)               a heartbeat of a trusted peer has come, after so many that have not
//   missed(peer)                     a heartbeat of a trusted peer is overdue, peer.missed of them in a row
//   left(peer)                       it has ended its session, or has been silent for so long that it is forgotten
//   closed()                         the connection is lost, and the session with it
//   greets                           true if it begins to make trust with everybody it meets, as publishers do

const crypto = require('node:crypto');
const { Malformed, Numeral, check, read, write, natural } = require('./rai-json.js');
const { isSubject } = require('./rai-pattern.js');
const { log, now, after, utc } = require('./rai-run.js');

const SERVICE = 'lab';
const INTERVAL = 10; // seconds between two heartbeats
const FORGET = 360; // missed heartbeats after which a peer is forgotten

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), crypto.createHash('sha256')).digest();

/** The database of the node: user → HA0. A real one would hold the hashes alone, and know no password. */
const USERS = new Map(['paul', 'sam', 'ruth', 'tess', 'toby', 'tara', 'dora']
  .map((user) => [user, sha256(user, SERVICE, `${user}-secret`)]));

// ---------------------------------------------------------------------------------------------- digests

const random = () => crypto.randomBytes(16).toString('base64url');
const isRandom = (text) => typeof text === 'string' && /^[\w-]{21}[AQgw]$/.test(text); // 16 bytes, and no bits behind

const xor = (a, b) => Buffer.from(a.map((byte, at) => byte ^ b[at]));

function aes(algorithm, key, block) {
  return crypto.createCipheriv(algorithm, key, null).setAutoPadding(false).update(block);
}

const big = (number, bytes) => Buffer.from(number.toString(16).padStart(2 * bytes, '0'), 'hex');

/** Matyas-Meyer-Oseas: each block is encrypted with what came of those before it, so this cannot be one call of AES. */
function ha2(seqno, text) {
  const bytes = Buffer.from(text);
  const zeros = Buffer.alloc(15 - (bytes.length + 8) % 16);
  const padded = Buffer.concat([bytes, Buffer.from([0x80]), zeros, big(BigInt(bytes.length * 8), 8)]);
  let hash = big(seqno, 16);
  for (let at = 0; at < padded.length; at += 16) {
    const block = padded.subarray(at, at + 16);
    hash = xor(aes('aes-128-ecb', hash, block), block);
  }
  return hash;
}

/** CMAC of exactly one block, which is what HA2 is. */
function digest(ha1, seqno, text) {
  const first = BigInt(`0x${aes('aes-256-ecb', ha1, Buffer.alloc(16)).toString('hex')}`);
  const subkey = BigInt.asUintN(128, first << 1n) ^ (first >> 127n ? 0x87n : 0n);
  return aes('aes-256-ecb', ha1, xor(ha2(seqno, text), big(subkey, 16))).toString('base64url');
}

/** What somebody may have to answer: the latest times that we have said, each with its cnonce. */
class Challenges extends Map {
  add(time, cnonce) {
    this.set(String(time), cnonce);
    if (this.size > 4) this.delete(this.keys().next().value); // an answer does not take that long
  }
}

// ---------------------------------------------------------------------------------------------- peers

/** Another session, as we know it. */
class Peer {
  constructor(name) {
    this.name = name;
    [, this.user, this.nonce] = /^([^.]+)\.([^.]+)$/.exec(name) ?? [];
    this.ha0 = USERS.get(this.user);
    check(this.ha0 && isRandom(this.nonce), 'nobody we know');
    this.ha1 = sha256(this.ha0, this.nonce);
    this.inbox = `_INBOX.${name}`;
    this.challenges = new Challenges();
    this.seqnos = new Map(); // subject → the last one
    this.floor = -1n; // what it has said before we trusted it can only be replayed
    this.trusted = false;
    this.ended = false;
    this.met = null; // the subject of its first message
    this.lastSeen = 0n; // by its own clock
    this.interval = INTERVAL;
    this.missed = 0; // heartbeats in a row
  }

  /** Throws Malformed unless the peer has said this, and now. */
  verify({ subject, seqno, mac, text }, ha1 = this.ha1) {
    check(!this.ended, 'the session has ended');
    check(seqno > this.floor && seqno > (this.seqnos.get(subject) ?? -1n), 'seqno has been there');
    const [told, right] = [mac, digest(ha1, seqno, text)].map((value) => Buffer.from(value));
    check(told.length === right.length && crypto.timingSafeEqual(told, right), 'wrong digest');
    this.seqnos.set(subject, seqno); // not before: a forgery must not keep out what is true
  }
}

/** A message as it came: the envelope and the members in it. */
function open(subject, bytes) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Malformed('not UTF-8');
  }
  const members = read(text);
  const [name, seqno, mac] = ['session', 'seqno', 'digest'].map((member) => members.get(member));
  check(typeof name === 'string' && typeof mac === 'string', 'no session or no digest');
  for (const member of ['session', 'seqno', 'digest']) members.delete(member);
  const message = { subject, name, seqno: natural(seqno), mac, members, text: subject + write(members) };
  check(message.seqno < 1n << 128n, 'seqno too big');
  return message;
}

/** The end of the inbox subject where an answer is to come, as text; undefined if none is wanted. */
function returnOf(members) {
  const value = members.get('return');
  if (value === undefined) return undefined;
  const text = value instanceof Numeral ? String(natural(value)) : value;
  check(typeof text === 'string' && text.length < 256 && isSubject(text), 'nothing to return to');
  return text;
}

// ---------------------------------------------------------------------------------------------- sessions

class Session {
  constructor(user, broker, node) {
    Object.assign(this, { user, broker, node });
    this.nonce = random();
    this.name = `${user}.${this.nonce}`;
    this.inbox = `_INBOX.${this.name}`;
    this.ha1 = sha256(USERS.get(user), this.nonce);
    this.seqno = 0n;
    this.beats = new Challenges();
    this.peers = new Map(); // name → Peer
    this.over = false;
  }

  async open() {
    await this.broker.subscribe(`${this.inbox}.>`);
    await this.broker.subscribe('_SESSION.*');
    await this.node.begin(this);
    if (this.over) return;
    log(`session ${this.name} begins`);
    this.beat('_SESSION.HELLO');
    await this.flush();
  }

  /** When the connection is lost. */
  close() {
    if (this.over) return;
    this.silence();
    this.node.closed?.();
  }

  silence() {
    this.over = true;
    clearTimeout(this.timer);
    for (const peer of this.peers.values()) clearTimeout(peer.timer);
  }

  /** The end that is announced. */
  async bye() {
    if (this.timer) this.publish('_SESSION.BYE', {}); // else there was no HELLO yet
    this.silence();
    await this.flush();
    this.broker.close();
  }

  flush() {
    return this.broker.flush();
  }

  publish(subject, members, ha1 = this.ha1) {
    if (this.over) return;
    const seqno = ++this.seqno;
    const text = write(members);
    const mac = digest(ha1, seqno, subject + text);
    const envelope = write({ session: this.name, seqno, digest: mac });
    this.broker.publish(subject, Buffer.from(text === '{}' ? envelope : `${envelope.slice(0, -1)},${text.slice(1)}`));
  }

  beat(subject) {
    const time = utc();
    const cnonce = random();
    this.beats.add(time, cnonce);
    this.publish(subject, { time, interval: INTERVAL, cnonce });
    this.timer = after(INTERVAL, () => this.beat('_SESSION.HB'));
  }

  receive(subject, bytes) {
    if (this.over) return;
    try {
      const message = open(subject, bytes);
      if (message.name === this.name) return;
      if (subject === '_SESSION.HELLO' || subject === '_SESSION.HB') return this.onBeat(message);
      if (subject === `${this.inbox}.auth`) return this.onAuth(message);
      const peer = this.peers.get(message.name);
      check(peer?.trusted, 'not trusted');
      peer.verify(message);
      if (subject === '_SESSION.BYE') this.onBye(peer); else this.node.message(subject, message.members, peer);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      log(`dropped a message on ${subject}: ${error.message}`);
    }
  }

  // -------------------------------------------------------------------------------------------- who is there

  onBeat(message) {
    const { subject, name, members } = message;
    const [time, interval] = [natural(members.get('time')), natural(members.get('interval'))];
    const cnonce = members.get('cnonce');
    check(isRandom(cnonce) && interval > 0n, 'no heartbeat');
    const age = utc() - time;
    check((age < 0n ? -age : age) <= 2n * interval * 1000000n, 'old, or of a wrong clock');

    const peer = this.peers.get(name) ?? new Peer(name);
    if (!peer.trusted && !this.node.greets) return;
    peer.verify(message);
    this.peers.set(name, peer);
    peer.met ??= subject;
    peer.lastSeen = time;
    peer.interval = Number(interval);
    const missed = this.watch(peer);
    if (peer.trusted) this.node.beat?.(peer, missed);
    if (!this.node.greets || (peer.trusted && subject === '_SESSION.HB')) return;
    this.authenticate(peer, time, cnonce); // also who says HELLO again: it may have forgotten us
  }

  onBye(peer) {
    peer.ended = true; // and not forgotten at once: its heartbeats must not be replayed while they look new
    peer.trusted = false;
    log(`session ${peer.name}: has ended`);
    this.node.left?.(peer);
  }

  /** Waits for the next heartbeat of a peer. Returns how many were missed before this. */
  watch(peer) {
    const { missed } = peer;
    peer.missed = 0;
    const heard = now();
    const wait = () => {
      clearTimeout(peer.timer);
      // At a random time in the interval after the one in which it was due, lest all publishers ask at once; not at
      // its very begin, as heartbeats may be a bit late.
      const due = heard + (peer.missed + 1.25 + 0.7 * Math.random()) * peer.interval;
      peer.timer = after(due - now(), () => {
        peer.missed += 1;
        if (peer.trusted) this.node.missed?.(peer);
        if (peer.missed < (peer.trusted ? FORGET : 4)) return wait(); // 4: by then its last heartbeat looks old
        this.peers.delete(peer.name);
        if (peer.trusted) this.node.left?.(peer);
      });
    };
    wait();
    return missed;
  }

  // -------------------------------------------------------------------------------------------- trust

  /** Tells a peer who we are, in answer to what it made up; what we make up here, it may answer. */
  authenticate(peer, time, cnonce) {
    const ours = { auth_time: time, time: utc(), cnonce: random() };
    peer.challenges.add(ours.time, ours.cnonce);
    this.publish(`${peer.inbox}.auth`, ours, sha256(USERS.get(this.user), this.nonce, String(time), cnonce));
  }

  onAuth(message) {
    const { name, seqno, members } = message;
    const [answered, time] = [natural(members.get('auth_time')), natural(members.get('time'))];
    const cnonce = members.get('cnonce');
    check(isRandom(cnonce), 'no auth');
    const peer = this.peers.get(name) ?? new Peer(name);
    const [beat, ours] = [this.beats, peer.challenges].map((challenges) => challenges.get(String(answered)));
    check(beat ?? ours, 'answers nothing of ours');
    peer.verify(message, sha256(peer.ha0, peer.nonce, String(answered), beat ?? ours));

    const known = this.peers.has(name);
    this.peers.set(name, peer);
    if (!known) this.watch(peer);
    if (beat) this.authenticate(peer, time, cnonce); // before the node says anything that needs trust
    peer.challenges.delete(String(answered));
    if (peer.trusted) return;
    peer.trusted = true;
    peer.floor = seqno;
    log(`session ${name}: trusted`);
    this.node.trusted?.(peer);
  }
}

module.exports = { INTERVAL, Session, returnOf, sha256, ha2, digest };
