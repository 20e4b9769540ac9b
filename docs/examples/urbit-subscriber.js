#!/usr/bin/env node
'use strict';
// A subscriber of Urbit's session-based notifications, as ship 68 (~sub) of the publisher 166 (~pub).
//
// It asks for a value again and again, ever more slowly, until it is told the value or that it will be: a promise. Then it
// needs to ask no more, as long as the session that the promise names is alive; for that it sends heartbeats. A nack to
// one of them says that the publisher has forgotten the session, and every promise with it: then it asks for everything
// that is pending again.
//
//   GOLDWIRE_CONNECT=udp/127.0.0.1:20001 node urbit-subscriber.js      then, for example:   1 want /~pub/chat/34

const {
  SCRY_FORE, SCRY_BACK, BEAT_FORE, BEAT_BACK, BOND_FORE, BOND_BACK,
  isPath, seal, now, after, repeat, locator, network, control, log,
} = require('./urbit-packet.js');

const US = { ship: 68n, rank: 0, tick: 1 };
const PUBLISHER = { ship: 166n, rank: 0, tick: 1 };
const HEARTBEAT = 25; // seconds between two; more than two fit into the publisher's lease of 60
const REST = 60; // seconds with nothing pending after which there is nothing to keep a session alive for
const FRAGMENT = 1; // the only one this application asks for

const remote = locator(process.env.GOLDWIRE_CONNECT);
const tell = (type, fields) => send(seal(type, US, PUBLISHER, fields), remote);

// ---------------------------------------------------------------------------------------------- what is pending

const pending = new Map(); // path → { promised, stop }: what the application wants and does not have
let idleSince = 0; // when the last of them went

/** Asks for a value, from the first short gap on, until a promise or the value comes. */
function ask(path) {
  pending.get(path)?.stop();
  const request = seal(SCRY_FORE, US, PUBLISHER, { path, fragment: FRAGMENT });
  pending.set(path, { promised: false, stop: repeat(() => send(request, remote)) });
}

function forget(path) {
  pending.get(path).stop();
  pending.delete(path);
  if (pending.size === 0) idleSince = now();
}

const cancel = (path, fragment) => tell(BOND_FORE, { path, fragment });

// ---------------------------------------------------------------------------------------------- the session

let session = null; // { id, last, unanswered, timer }

/** Sends the next heartbeat, and the ones after it every 25 seconds, whatever is heard: silence never ends a session. */
function beat() {
  if (pending.size === 0 && now() - idleSince >= REST) {
    // Resting, not over: the publisher may promise in this session once more, and then only a number that is above
    // the last one will do.
    session.timer = null;
    return;
  }
  session.last += 1n;
  session.unanswered.add(session.last);
  session.timer = after(HEARTBEAT, beat);
  tell(BEAT_FORE, { id: session.id, number: session.last });
}

// ---------------------------------------------------------------------------------------------- messages

function onPromise({ id, path, fragment }) {
  const asked = pending.get(path);
  if (!asked || fragment !== FRAGMENT) return; // nobody asked for this: a stranger's replay, or too late
  asked.stop();
  asked.promised = true;
  if (session?.id === id) {
    if (!session.timer) beat();
    return;
  }
  // The publisher holds one session with us, so the one before this is gone, and what was promised in it is void.
  for (const [other, { promised }] of pending) {
    if (promised && other !== path) ask(other);
  }
  clearTimeout(session?.timer);
  session = { id, last: 0n, unanswered: new Set(), timer: null };
  log(`session ${id}: begins`);
  beat(); // at once: it opens the way through our router, and the publisher learns that its promise has arrived
}

function onHeartbeatAnswer({ id, number, live }) {
  // Only the first answer to a heartbeat of this session counts: a replay of an old nack must not end it.
  if (session?.id !== id || !session.unanswered.delete(number) || live) return;
  log(`session ${id}: the publisher does not know it any more`);
  clearTimeout(session.timer);
  session = null;
  for (const path of [...pending.keys()]) ask(path);
}

function onResponse({ path, fragment, data }) {
  if (fragment === FRAGMENT && pending.has(path)) {
    forget(path);
    const text = data.toString().replace(/[\r\n]/g, ' '); // one event is one line
    process.stdout.write(`event got ${path} ${text}\n`);
  }
  cancel(path, fragment); // wanted or not, and every time: the publisher repeats it until it hears this
}

const HANDLERS = { [SCRY_BACK]: onResponse, [BEAT_BACK]: onHeartbeatAnswer, [BOND_BACK]: onPromise };

const send = network(US.ship, undefined, (message) => {
  if (message.from.ship === PUBLISHER.ship) HANDLERS[message.type]?.(message);
});

// ---------------------------------------------------------------------------------------------- control lines

control({
  /** want PATH: the application wants the value there; `event got PATH TEXT` is printed when it has come. */
  want(path) {
    if (!isPath(path)) throw new Error(`not a path: ${path}`);
    if (!pending.has(path)) ask(path);
  },

  /** drop PATH: it does not want it any more. If this cancellation is lost, the notification will cause another. */
  drop(path) {
    if (!pending.has(path)) throw new Error('no such path');
    forget(path);
    cancel(path, FRAGMENT);
  },
});
