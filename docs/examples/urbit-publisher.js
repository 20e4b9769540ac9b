#!/usr/bin/env node
'use strict';
// A publisher of Urbit's session-based notifications, as ship 166 (~pub).
//
// Somebody asks for a value that is not there yet: the publisher promises to send it, and the promise names a session.
// It keeps its promises while the session lives, and that is as long as heartbeats come: a lease of 60 seconds.
//
//   GOLDWIRE_LISTEN=udp/127.0.0.1:20001 node urbit-publisher.js        then, for example:   1 grow /~pub/chat/34 hello

const crypto = require('node:crypto');
const {
  SCRY_FORE, SCRY_BACK, BEAT_FORE, BEAT_BACK, BOND_FORE, BOND_BACK, DATA_PER_FRAGMENT,
  isPath, seal, after, repeat, locator, network, control, log,
} = require('./urbit-packet.js');

const SHIP = 166n;
const LEASE = 60; // seconds without a heartbeat that a session survives

const values = new Map(); // path → its fragments; a value never changes once it is there
const sessions = new Map(); // ship → its one session: whoever asks from a second address is still the same subscriber

/** Answers a message: to the ship that sent it, at the address where it came from. */
function reply(message, remote, type, fields) {
  send(seal(type, message.to, message.from, fields), remote);
}

/** The fields of the response with one fragment, counted from 1; undefined if the value is shorter than that. */
function response(path, fragment) {
  const fragments = values.get(path);
  const data = fragments[fragment - 1];
  return data && { path, fragment, total: fragments.length, data };
}

// ---------------------------------------------------------------------------------------------- sessions

function openSession(message, remote) {
  const session = {
    id: crypto.randomBytes(8).readBigUInt64LE(), // unguessable: it is all that protects a heartbeat
    last: 0n, // the highest number of a heartbeat so far
    us: message.to,
    subscriber: message.from,
    remote, // where notifications go
    interests: new Map(), // name → { path, fragment, stop }: what was promised; stop ends its repetition once it began
  };
  session.lease = after(LEASE + 0.1, () => endSession(session)); // strictly after 60 s, and timers may be a bit early
  sessions.set(message.from.ship, session);
  log(`session ${session.id} of ship ${message.from.ship}: begins`);
  return session;
}

function endSession(session) {
  sessions.delete(session.subscriber.ship);
  for (const interest of session.interests.values()) interest.stop?.();
  log(`session ${session.id} of ship ${session.subscriber.ship}: no heartbeat for ${LEASE} s`);
}

/** Keeps a promise: again and again, to wherever the subscriber is by then, until it cancels or its session ends. */
function notify(session, interest) {
  const fields = response(interest.path, interest.fragment);
  if (!fields) return; // promised a fragment that turned out to be beyond the end: there will never be one
  const datagram = seal(SCRY_BACK, session.us, session.subscriber, fields);
  interest.stop = repeat(() => send(datagram, session.remote));
}

const nameOf = ({ path, fragment }) => `${fragment}${path}`;

// ---------------------------------------------------------------------------------------------- messages

function onRequest(message, remote) {
  const { path, fragment } = message;
  if (values.has(path)) {
    // Not repeated: who asked for what exists asks again if the answer is lost. A fragment beyond the end is met with
    // silence: values never change, so a promise of it could not be kept.
    const fields = response(path, fragment);
    if (fields) reply(message, remote, SCRY_BACK, fields);
    return;
  }
  // Requests neither renew the lease nor move the session: they carry no number, so anybody could replay an old one.
  const session = sessions.get(message.from.ship) ?? openSession(message, remote);
  const name = nameOf(message);
  if (!session.interests.has(name)) session.interests.set(name, { path, fragment });
  reply(message, remote, BOND_BACK, { id: session.id, path, fragment }); // also if promised before: that one was lost
}

function onHeartbeat(message, remote) {
  const { id, number } = message;
  if (number === 0n) return; // they are numbered from 1
  const session = sessions.get(message.from.ship);
  if (session?.id !== id) { // unknown, or somebody else's: the nack makes the subscriber ask for everything again
    reply(message, remote, BEAT_BACK, { id, number, live: false });
    return;
  }
  if (number <= session.last) return; // a duplicate or a replay: it must not renew the lease or move the session
  session.last = number;
  session.remote = remote;
  session.lease.refresh();
  reply(message, remote, BEAT_BACK, { id, number, live: true });
}

/** A cancellation acknowledges a notification, or comes before there is one when the subscriber lost interest. */
function onCancellation(message) {
  const interests = sessions.get(message.from.ship)?.interests;
  interests?.get(nameOf(message))?.stop?.();
  interests?.delete(nameOf(message));
}

const HANDLERS = { [SCRY_FORE]: onRequest, [BEAT_FORE]: onHeartbeat, [BOND_FORE]: onCancellation };

const send = network(SHIP, locator(process.env.GOLDWIRE_LISTEN), (message, remote) => {
  HANDLERS[message.type]?.(message, remote);
});

// ---------------------------------------------------------------------------------------------- control lines

control({
  /** grow PATH TEXT: from now on the text is the value at the path. */
  grow(args) {
    const space = args.indexOf(' ');
    const path = space < 0 ? args : args.slice(0, space);
    const data = Buffer.from(space < 0 ? '' : args.slice(space + 1));
    if (!isPath(path)) throw new Error(`not a path: ${path}`);
    if (values.has(path)) throw new Error(`already grown: ${path}`);

    const fragments = [data.subarray(0, DATA_PER_FRAGMENT)]; // an empty value has one fragment too, an empty one
    for (let at = DATA_PER_FRAGMENT; at < data.length; at += DATA_PER_FRAGMENT) {
      fragments.push(data.subarray(at, at + DATA_PER_FRAGMENT));
    }
    values.set(path, fragments);
    for (const session of sessions.values()) {
      for (const interest of session.interests.values()) {
        if (interest.path === path) notify(session, interest);
      }
    }
  },
});
