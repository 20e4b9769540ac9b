#!/usr/bin/env node
'use strict';
// A subscriber of the Rai protocol, as user sam.
//
// It starts subjects and wildcards, puts images and updates together to the values that its application sees, and says
// how far these can be relied on. A publisher that is new, or back, does not know what was started before: it is told
// again of every subject that nobody serves.
//
//   GOLDWIRE_CONNECT=nats/127.0.0.1:4222 node rai-subscriber.js        then, for example:   1 subscribe LAB.A

const { check, natural, write } = require('./rai-json.js');
const { isSubject, isWildcard, matcher, pcre } = require('./rai-pattern.js');
const { event, now, after, utc, run } = require('./rai-run.js');
const { INTERVAL, Session, returnOf } = require('./rai-session.js');

const USER = 'sam';
const EXPIRES = 3 * INTERVAL; // what our starts survive without a heartbeat
const WINDOW = 3 * INTERVAL; // starts before this cannot be told from others by their time
const SILENT = 2; // missed heartbeats after which a publisher's values cannot be relied on
const ANSWER = 3 * INTERVAL; // how long answers are waited for

let session;

const subjects = new Map(); // subject → { image, back, started, last, owner, ended, timer }; image: with an ack
const wildcards = new Map(); // wildcard → { prefix, pattern, matches, started, last }
const values = new Map(); // subject → { fields, doubt, owner }
const asked = new Map(); // return → { type, subject } or, for dictionaries, { dictionary, owner }
const dictionaries = new Map(); // name → { owner, csum }: whoever named it last, and how

let returns = 0;

/** Where an answer is to come. */
function ask(what) {
  returns += 1;
  asked.set(String(returns), what);
  return returns;
}

function askOnce(what) {
  const back = ask(what);
  after(ANSWER, () => asked.delete(String(back))); // several publishers may answer, and it is not known how many do
  return back;
}

// ---------------------------------------------------------------------------------------------- starts

function startSubject(subject, start) {
  Object.assign(start, { started: utc(), last: now() });
  const wishes = start.image ? { return: start.back, initial: true, ack: true, format: 'json' } : {};
  session.publish(`_SUB.START.${subject}`, { ...wishes, expires: EXPIRES });
}

const wildcardSubject = (verb, { prefix }) => `_PSUB.${verb}.${prefix === '' ? '' : `${prefix}.`}_`;

function startWildcard(wildcard, start) {
  Object.assign(start, { started: utc(), last: now() });
  const { pattern } = start;
  session.publish(wildcardSubject('START', start), { expires: EXPIRES, subject: wildcard, pattern });
}

/** Starts again what was dropped, but not more often than once in an interval: it may be dropped again at once. */
function restart(start, again) {
  clearTimeout(start.timer);
  start.timer = after(Math.max(0, start.last + INTERVAL - now()), again);
}

/** Starts every subject that nobody serves. Wildcards are always among these: nobody says that he serves them. */
function startOrphans() {
  for (const [subject, start] of subjects) {
    if (start.owner === null && !start.ended) startSubject(subject, start);
  }
  for (const [wildcard, start] of wildcards) startWildcard(wildcard, start);
}

const wildcardsOf = (subject) => [...wildcards].filter(([, start]) => start.matches(subject));
const isOurs = (subject) => subjects.has(subject) || (isSubject(subject) && wildcardsOf(subject).length > 0);

/** Forgets the values that no start is left for. */
function tidy() {
  for (const subject of values.keys()) {
    if (!isOurs(subject)) values.delete(subject);
  }
}

// ---------------------------------------------------------------------------------------------- values

const IMAGES = ['start', 'initial', 'snap']; // types that have all fields; an answer is named by what it answers, or so
const CHANGES = ['update', 'verify', 'recap', 'transient'];
const HARMLESS = ['ok', 'conflated']; // the value is what it should be
const PASSING = ['verify', 'feed_switch']; // doubts that the next update ends, while others last until an image comes
const FINAL = ['perm_denied', 'bad_name', 'bad_access']; // to ask again is of no use

/** The type and status of a message. */
function kindOf(members) {
  const [type, status] = [members.get('type') ?? 'update', members.get('status') ?? 'ok'];
  check(typeof type === 'string' && typeof status === 'string' && /^\w+$/.test(status), 'no type or no status');
  const data = members.get('data');
  check(data === undefined || data instanceof Map, 'data that is no object');
  const misspelt = status === 'temp_unvail'; // in some rows of the document's table
  return { type, status: misspelt ? 'temp_unavail' : status, data };
}

const showValue = (subject, { fields, doubt }) => event('value', subject, doubt ?? 'ok', write(fields));

function onValue(subject, members, peer) {
  const { type, status, data } = kindOf(members);
  const isImage = IMAGES.includes(type);
  check(isImage || CHANGES.includes(type), 'unknown type');
  const start = subjects.get(subject);
  if (start) start.owner = FINAL.includes(status) ? null : peer.name;
  if (start) start.ended = FINAL.includes(status);
  noteDictionary(members, peer);
  const value = values.get(subject) ?? { fields: new Map(), doubt: null };
  const known = values.has(subject);

  if (data && isImage) value.fields = data;
  else if (data) data.forEach((field, name) => value.fields.set(name, field));
  else event('status', subject, status);

  // An update of a stale value leaves it stale: nobody knows which of its fields are old.
  const ends = data ? isImage || type === 'verify' || value.doubt === null || PASSING.includes(value.doubt) : status === 'ok';
  const doubt = type === 'verify' && status === 'ok' ? 'verify' : status;
  const before = value.doubt;
  if (HARMLESS.includes(doubt)) value.doubt = ends ? null : before;
  else if (!PASSING.includes(doubt) || ends || before === null) value.doubt = doubt;
  if (!data && (!known || value.doubt === before)) return;
  value.owner = peer.name;
  values.set(subject, value);
  showValue(subject, value);
}

function onDrop(subject, members) {
  const { status } = kindOf(members);
  const other = members.get('subject');
  values.delete(subject);
  event('drop', subject, status, ...(typeof other === 'string' && isSubject(other) ? [other] : []));
  const start = subjects.get(subject);
  const final = status === 'expired' || status === 'relocate'; // for others, the document wants it started again
  if (start) Object.assign(start, { owner: null, ended: final });
  if (final) return;
  if (start) restart(start, () => startSubject(subject, start));
  for (const [wildcard, each] of wildcardsOf(subject)) {
    if (status === 'nosubscribers') restart(each, () => startWildcard(wildcard, each)); // they have lost ours
  }
}

/** Nobody keeps these values up to date any more. */
function orphan(isOrphan) {
  for (const start of subjects.values()) {
    if (isOrphan(start.owner)) start.owner = null;
  }
  for (const [subject, value] of values) {
    if (!isOrphan(value.owner)) continue;
    value.owner = null;
    if (value.doubt !== null && !PASSING.includes(value.doubt)) continue;
    value.doubt = 'stale';
    showValue(subject, value);
  }
}

// ---------------------------------------------------------------------------------------------- answers

function noteDictionary(members, peer) {
  const name = members.get('dictionary');
  if (typeof name === 'string') dictionaries.set(name, { owner: peer.name, csum: members.get('dict_csum') });
}

function onSnapshot(subject, members, peer) {
  const { status, data } = kindOf(members);
  noteDictionary(members, peer);
  if (data) event('snapshot', subject, status, write(data)); else event('status', subject, status);
}

function onDictionary(name, members) {
  const { status, data } = kindOf(members);
  if (data) event('dictionary', name, write(data)); else event('status', name, status);
}

function onAnswer(back, members, peer) {
  const what = asked.get(back);
  check(what, 'nobody has asked');
  const { dictionary, owner, type, subject } = what;
  if (dictionary !== undefined) {
    check(peer.name === owner && members.get('dictionary') === dictionary, 'not the dictionary that was asked for');
    return onDictionary(dictionary, members);
  }
  check(members.get('subject') === subject, 'not the subject that was asked for');
  if (type === 'snap') return onSnapshot(subject, members, peer);
  if (members.get('status') === 'ack') {
    check(members.get('type') === type, 'an ack of something else');
    if (type === 'start' && subjects.has(subject)) subjects.get(subject).owner = peer.name;
    return event('ack', subject, type);
  }
  if (type === 'start' && subjects.has(subject)) onValue(subject, members, peer);
}

/** The publisher has missed a heartbeat of ours, and asks for what has been started since, or for everything. */
function onGetSubs(members, peer) {
  const [lastSeen, wildcard = '>'] = [natural(members.get('last_seen')), members.get('wildcard')];
  const back = returnOf(members);
  check(back !== undefined, 'nothing to return to');
  check(typeof wildcard === 'string' && isWildcard(wildcard), 'no wildcard');
  const matches = matcher(pcre(wildcard).pattern);
  const window = utc() - BigInt(WINDOW * 1000000);
  const isMissing = ({ started }) => lastSeen < window || started >= lastSeen;

  const missing = [...subjects].filter(([subject, start]) => !start.ended && isMissing(start) && matches(subject));
  const [images, others] = [true, false].map((image) => missing.filter(([, start]) => start.image === image));
  const tell = (starts, wishes) => session.publish(`${peer.inbox}.${back}`, {
    last_seen: lastSeen, wildcard, ...wishes, subs: starts.map(([subject]) => subject),
  });
  const subs_return = images.map(([, start]) => start.back);
  // With nothing to tell as well: it shows that we are here.
  if (images.length > 0 || others.length === 0) tell(images, { initial: true, ack: true, subs_return });
  if (others.length > 0) tell(others, {}); // these want no images, and one message cannot say both
  for (const [each, start] of wildcards) { // has no place in the answer
    if (isMissing(start)) startWildcard(each, start);
  }
}

const node = {
  async begin(opened) {
    session = opened;
    asked.forEach((what, back) => what.type !== 'start' && asked.delete(back));
    for (const wanted of [...subjects.keys(), ...wildcards.keys()]) await session.broker.subscribe(wanted);
  },

  message(subject, members, peer) {
    const inbox = `${session.inbox}.`;
    if (subject === `${inbox}get_subs`) return onGetSubs(members, peer);
    if (subject.startsWith(inbox)) return onAnswer(subject.slice(inbox.length), members, peer);
    if (!isOurs(subject)) return; // Redis says more than was asked for
    if (members.get('type') === 'drop') onDrop(subject, members); else onValue(subject, members, peer);
  },

  closed: () => orphan(() => true),
  trusted: startOrphans,

  beat(peer, missed) {
    if (missed >= SILENT) startOrphans();
  },

  missed(peer) {
    if (peer.missed === SILENT) orphan((owner) => owner === peer.name);
  },

  left(peer) {
    orphan((owner) => owner === peer.name);
  },
};

// ---------------------------------------------------------------------------------------------- control lines

async function start(subject, image) {
  if (!isSubject(subject)) throw new Error(`not a subject: ${subject}`);
  const old = subjects.get(subject);
  const back = old?.back ?? ask({ type: 'start', subject });
  const started = { image, back, owner: null, ended: false };
  clearTimeout(old?.timer);
  subjects.set(subject, started);
  if (!old) await session.broker.subscribe(subject); // before the start: what answers it must not be missed
  startSubject(subject, started);
}

const verbs = {
  subscribe: (subject) => start(subject, true),
  listen: (subject) => start(subject, false),

  async unsubscribe(subject) {
    const old = subjects.get(subject);
    if (!old) throw new Error('not subscribed');
    clearTimeout(old.timer);
    subjects.delete(subject);
    asked.delete(String(old.back));
    tidy();
    session.publish(`_SUB.STOP.${subject}`, { return: askOnce({ type: 'stop', subject }), ack: true });
    await session.broker.unsubscribe(subject);
  },

  async psubscribe(wildcard) {
    if (!isWildcard(wildcard)) throw new Error(`not a wildcard: ${wildcard}`);
    const { prefix, pattern } = pcre(wildcard);
    clearTimeout(wildcards.get(wildcard)?.timer);
    const isNew = !wildcards.has(wildcard);
    wildcards.set(wildcard, { prefix, pattern, matches: matcher(pattern) });
    if (isNew) await session.broker.subscribe(wildcard);
    startWildcard(wildcard, wildcards.get(wildcard));
  },

  async punsubscribe(wildcard) {
    const old = wildcards.get(wildcard);
    if (!old) throw new Error('not subscribed');
    clearTimeout(old.timer);
    wildcards.delete(wildcard);
    tidy();
    session.publish(wildcardSubject('STOP', old), { subject: wildcard, pattern: old.pattern });
    await session.broker.unsubscribe(wildcard);
  },

  snapshot(subject) {
    if (!isSubject(subject)) throw new Error(`not a subject: ${subject}`);
    session.publish(`_SNAP.${subject}`, { return: askOnce({ type: 'snap', subject }), format: 'json' });
  },

  dictionary(name) {
    const { owner, csum } = dictionaries.get(name) ?? {};
    if (!owner) throw new Error('no publisher has named it');
    const back = askOnce({ dictionary: name, owner });
    session.publish(`_INBOX.${owner}.dict`, { dictionary: name, dict_csum: csum, return: back });
  },
};

run(process.env.GOLDWIRE_CONNECT, verbs, (broker) => new Session(USER, broker, node));
