'use strict';
// Who wants what of a publisher: the starts of its subscribers.
//
// A start is { peer, back, expires } with a `subject`, or with `covers`, a function of subjects, and the `wildcard` that
// it is told from others by. `ended(start, lapsed)` is called when one has ended other than by `forget` and `clear`.

const { after } = require('./rai-run.js');

/** Adds to, and takes from, the set at a key; sets that are empty go, so that having one means something. */
const include = (sets, key, element) => sets.set(key, (sets.get(key) ?? new Set()).add(element));
const exclude = (sets, key, element) => {
  sets.get(key)?.delete(element);
  if (sets.get(key)?.size === 0) sets.delete(key);
};

const keyOf = (peer, what) => `${peer.name} ${what}`;

class Starts {
  constructor(ended) {
    this.ended = ended;
    this.all = new Map(); // peer's name, and subject or wildcard → start
    this.subjects = new Map(); // subject → Set of starts
    this.wildcards = new Set(); // starts
    this.peers = new Map(); // peer → Set of starts
  }

  get(peer, what) {
    return this.all.get(keyOf(peer, what));
  }

  of(peer) {
    return [...this.peers.get(peer) ?? []];
  }

  isWanted(subject) {
    return this.subjects.has(subject) || [...this.wildcards].some((start) => start.covers(subject));
  }

  /** A start takes the place of the same peer's earlier one. */
  add(start) {
    const key = keyOf(start.peer, start.subject ?? start.wildcard);
    if (this.all.has(key)) this.forget(this.all.get(key));
    this.all.set(key, start);
    include(this.peers, start.peer, start);
    if (start.subject === undefined) this.wildcards.add(start); else include(this.subjects, start.subject, start);
    this.renew(start);
  }

  renew(start) {
    clearTimeout(start.timer);
    start.timer = after(start.expires, () => this.remove(start, true));
  }

  forget(start) {
    clearTimeout(start.timer);
    this.all.delete(keyOf(start.peer, start.subject ?? start.wildcard));
    exclude(this.peers, start.peer, start);
    if (start.subject === undefined) this.wildcards.delete(start); else exclude(this.subjects, start.subject, start);
  }

  remove(start, lapsed = false) {
    if (!start) return;
    this.forget(start);
    this.ended(start, lapsed);
  }

  clear() {
    for (const start of [...this.all.values()]) this.forget(start);
  }
}

module.exports = { Starts };
