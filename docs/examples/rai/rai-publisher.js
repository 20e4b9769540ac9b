#!/usr/bin/env node
'use strict';
// A publisher of the Rai protocol, as user paul, with its cache.
//
// The cache holds the last value of each subject, all of its fields. Who starts a subject is sent these, an image, and
// from then on the fields that change are published on the subject, as long as anybody's start is alive: that is while
// heartbeats of the session come that it belongs to.
//
//   GOLDWIRE_CONNECT=nats/127.0.0.1:4222 node rai-publisher.js        then, for example:   1 set LAB.A {"BID":17.75}

const { Cache } = require('./rai-cache.js');
const { check, read, natural } = require('./rai-json.js');
const { isSubject, matcher } = require('./rai-pattern.js');
const { run } = require('./rai-run.js');
const { INTERVAL, Session, returnOf } = require('./rai-session.js');
const { Starts } = require('./rai-starts.js');

const USER = 'paul';
const SERVED = 'LAB.'; // what our subjects begin with
const MISSED = 3; // of the peer's heartbeats, before a start ends that does not say when
const ASK = 3; // missed heartbeats after which a session without starts is not asked for any

let session;

const cache = new Cache();
const denied = new Set(); // users
let waiting = null; // while updates are on hold: subject → { fields, count }

// ---------------------------------------------------------------------------------------------- who wants what

const lapsed = new Set(); // peers of which a start has expired

/** What nobody wants any more is dropped. */
const starts = new Starts((start, expired) => {
  if (expired) lapsed.add(start.peer);
  const subjects = start.subject === undefined ? cache.subjects.filter(start.covers) : [start.subject];
  for (const subject of subjects) {
    if (!starts.isWanted(subject)) session.publish(subject, { type: 'drop', status: 'nosubscribers' });
  }
});

/** Gives a subject up, and tells why. Who still wants it has to start it again. */
function drop(subject, members) {
  if (!cache.has(subject) && !starts.isWanted(subject)) throw new Error('no such subject');
  if (starts.isWanted(subject)) session.publish(subject, { type: 'drop', ...members });
  for (const start of [...starts.subjects.get(subject) ?? []]) starts.forget(start);
  cache.entries.delete(subject);
  waiting?.delete(subject);
}

// ---------------------------------------------------------------------------------------------- messages of values

/** The image for all who have the subject already: what they know of it is not enough any more. */
function refresh(subject) {
  if (!starts.isWanted(subject) || cache.get(subject).warm) return;
  const members = cache.image(subject);
  if (members.data) session.publish(subject, { type: 'initial', ...members });
}

function update(subject, fields, conflated = false) {
  if (!starts.isWanted(subject)) return;
  const status = cache.doubt(subject) ?? (conflated ? 'conflated' : undefined);
  session.publish(subject, { status, data: fields });
}

/** Tells something about every subject that somebody wants. */
function tellAll(members) {
  for (const subject of new Set([...cache.subjects, ...starts.subjects.keys()])) {
    if (starts.isWanted(subject)) session.publish(subject, members(subject));
  }
}

// ---------------------------------------------------------------------------------------------- requests

function wishOf(members) {
  const expires = members.has('expires') ? Number(natural(members.get('expires'))) : 0;
  return {
    back: returnOf(members),
    initial: members.get('initial') === true,
    ack: members.get('ack') === true,
    expires: expires || undefined,
  };
}

function reply(peer, back, members) {
  if (back !== undefined) session.publish(`${peer.inbox}.${back}`, members);
}

/** Why a peer cannot have a subject at all. */
function refusal(peer, subject) {
  if (denied.has(peer.user)) return 'perm_denied';
  return isSubject(subject) ? undefined : 'bad_name';
}

function onStart(peer, subject, wish) {
  if (!subject.startsWith(SERVED)) return;
  const status = refusal(peer, subject);
  if (status) return reply(peer, wish.back, { type: 'initial', subject, status });
  const expires = wish.expires ?? starts.get(peer, subject)?.expires ?? MISSED * peer.interval;
  starts.add({ peer, subject, back: wish.back, expires });
  if (wish.ack) reply(peer, wish.back, { type: 'start', subject, status: 'ack' });
  if (wish.initial) reply(peer, wish.back, cache.initial(subject));
}

function onStop(peer, subject, wish) {
  if (!subject.startsWith(SERVED)) return;
  if (wish.ack) reply(peer, wish.back, { type: 'stop', subject, status: 'ack' }); // before a drop, for who waits for it
  starts.remove(starts.get(peer, subject));
}

function onSnapshot(peer, subject, wish) {
  if (!subject.startsWith(SERVED)) return;
  const status = refusal(peer, subject);
  reply(peer, wish.back, status ? { type: 'snap', subject, status } : cache.snapshot(subject));
}

/** `prefix._`, where the prefix may be missing. */
function onWildcard(type, peer, rest, members) {
  const match = /^(?:(.+)\.)?_$/s.exec(rest);
  const [subject, pattern] = [members.get('subject'), members.get('pattern')];
  check(match && typeof pattern === 'string', 'no wildcard');
  const prefix = match[1] === undefined ? '' : `${match[1]}.`;
  const wildcard = `${prefix} ${pattern}`;
  const { back, initial: wanted, ack, expires = MISSED * peer.interval } = wishOf(members);
  if (type === 'stop') {
    if (ack) reply(peer, back, { type, subject, status: 'ack' });
    return starts.remove(starts.get(peer, wildcard));
  }
  const matches = matcher(pattern);
  if (denied.has(peer.user)) return reply(peer, back, { type: 'initial', subject, status: 'perm_denied' });
  const covers = (text) => text.startsWith(prefix) && matches(text);
  starts.add({ peer, covers, wildcard, back, expires });
  // The document's wildcard starts ask for neither of these, but who does shall have it.
  if (ack) reply(peer, back, { type, subject, status: 'ack' });
  if (wanted) cache.subjects.filter(covers).forEach((each) => reply(peer, back, cache.initial(each)));
}

function onDictionary(peer, members) {
  const name = members.get('dictionary');
  check(typeof name === 'string', 'no dictionary');
  const known = cache.dictionaries.get(name) ?? { dictionary: name, status: 'not_found' };
  const denial = { dictionary: name, status: 'perm_denied' };
  reply(peer, returnOf(members), denied.has(peer.user) ? denial : known);
}

/** The answer to get_subs. Whoever can give it is alive, so it keeps the starts that it does not repeat as well. */
function onSubs(peer, members) {
  const [subjects, returns = []] = [members.get('subs'), members.get('subs_return')];
  check(Array.isArray(subjects) && Array.isArray(returns), 'no list of subjects');
  const wish = wishOf(members);
  const wishes = subjects.map((subject, at) => {
    check(typeof subject === 'string', 'no subject');
    return { ...wish, back: returnOf(new Map([['return', returns[at]]])) };
  });
  starts.of(peer).forEach((start) => starts.renew(start));
  subjects.forEach((subject, at) => onStart(peer, subject, wishes[at]));
}

function ask(peer, lastSeen) {
  session.publish(`${peer.inbox}.get_subs`, { return: `${peer.user}.subs`, last_seen: lastSeen, wildcard: `${SERVED}>` });
}

const REQUESTS = {
  '_SUB.START.': (peer, subject, members) => onStart(peer, subject, wishOf(members)),
  '_SUB.STOP.': (peer, subject, members) => onStop(peer, subject, wishOf(members)),
  '_PSUB.START.': (peer, rest, members) => onWildcard('start', peer, rest, members),
  '_PSUB.STOP.': (peer, rest, members) => onWildcard('stop', peer, rest, members),
  '_SNAP.': (peer, subject, members) => onSnapshot(peer, subject, wishOf(members)),
};

const node = {
  greets: true,

  async begin(opened) {
    session = opened;
    for (const table of [starts, lapsed]) table.clear(); // they were of the session before
    for (const subject of [`_SUB.START.${SERVED}>`, `_SUB.STOP.${SERVED}>`, '_PSUB.>', `_SNAP.${SERVED}>`]) {
      await session.broker.subscribe(subject);
    }
  },

  message(subject, members, peer) {
    if (subject === `${session.inbox}.dict`) return onDictionary(peer, members);
    if (subject === `${session.inbox}.${peer.user}.subs`) return onSubs(peer, members);
    const prefix = Object.keys(REQUESTS).find((each) => subject.startsWith(each));
    if (prefix) REQUESTS[prefix](peer, subject.slice(prefix.length), members);
  },

  /** Whoever has met us by a heartbeat has begun before us, and may have starts that we have never seen. */
  trusted(peer) {
    if (peer.met === '_SESSION.HB') ask(peer, 0n);
  },

  beat(peer) {
    starts.of(peer).forEach((start) => starts.renew(start));
    if (lapsed.delete(peer)) ask(peer, 0n); // it is back, and may not know what it has lost
  },

  missed(peer) {
    if (peer.missed <= ASK || starts.of(peer).length > 0) ask(peer, peer.lastSeen);
  },

  left(peer) {
    starts.of(peer).forEach((start) => starts.remove(start));
    lapsed.delete(peer);
  },
};

// ---------------------------------------------------------------------------------------------- control lines

function subjectOf(text) {
  if (!text.startsWith(SERVED) || !isSubject(text)) throw new Error(`not a subject of ours: ${text}`);
  return text;
}

/** `SUBJECT JSON`, or a name instead of the subject. */
function parse(args) {
  const [, name, json] = /^(\S+) (.*)$/s.exec(args) ?? [];
  if (!name) throw new Error('a name and an object are needed');
  return [name, read(json)];
}

const verbs = {
  set(args) {
    const [subject, fields] = parse(args);
    cache.put(subjectOf(subject), fields);
    if (!waiting) return update(subject, fields);
    const held = waiting.get(subject) ?? { fields: new Map(), count: 0 };
    for (const [name, value] of fields) held.fields.set(name, value);
    waiting.set(subject, { fields: held.fields, count: held.count + 1 });
  },

  warm(args) {
    const [subject, fields] = parse(args);
    cache.warm(subjectOf(subject), fields);
  },

  stale(subject) {
    cache.get(subjectOf(subject)).stale = true;
    if (starts.isWanted(subject)) session.publish(subject, { status: 'stale' });
  },

  restore(args) {
    const [subject, fields] = parse(args);
    cache.replace(subjectOf(subject), fields);
    waiting?.delete(subject); // the image has it all
    refresh(subject);
  },

  expire: (subject) => drop(subjectOf(subject), { status: 'expired' }),
  evict: (subject) => drop(subjectOf(subject), { status: 'preempted' }),

  rename(args) {
    const [from, to] = args.split(' ').map(subjectOf);
    const entry = cache.get(from);
    if (!to || from === to) throw new Error('two subjects are needed');
    drop(from, { status: 'relocate', subject: to });
    waiting?.delete(to);
    cache.entries.set(to, entry);
    refresh(to);
  },

  switch: () => tellAll((subject) => cache.recap(subject)),

  hold() {
    waiting ??= new Map();
  },

  release() {
    const held = waiting ?? new Map();
    waiting = null;
    for (const [subject, { fields, count }] of held) update(subject, fields, count > 1);
  },

  block(subject) {
    if (!cache.blocked.has(subjectOf(subject))) cache.blocked.set(subject, false);
  },

  unblock(subject) {
    const refused = cache.blocked.get(subject);
    cache.blocked.delete(subject);
    if (refused && cache.has(subject)) refresh(subject); // for who still waits for an image
  },

  down() {
    if (cache.down) return;
    cache.down = true;
    tellAll(() => ({ status: 'feed_down' }));
  },

  up() {
    if (!cache.down) return;
    cache.down = false;
    cache.subjects.forEach(refresh); // nobody knows what was missed
  },

  deny(user) {
    denied.add(user);
    for (const start of [...starts.all.values()].filter(({ peer }) => peer.user === user)) {
      const { peer, subject, back } = start; // on the subject itself, all others would be told this as well
      if (subject !== undefined) reply(peer, back, { type: 'initial', subject, status: 'perm_denied' });
      starts.remove(start);
    }
  },

  dictionary(args) {
    const [name, data] = parse(args);
    if (cache.name(name, data)) cache.subjects.forEach(refresh);
  },
};

run(process.env.GOLDWIRE_CONNECT, verbs, (broker) => new Session(USER, broker, node));
