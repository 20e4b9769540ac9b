'use strict';
// The cache of a publisher: the last value of each subject, all of its fields, and how far it can be relied on.

const zlib = require('node:zlib');
const { write } = require('./rai-json.js');
const { now } = require('./rai-run.js');

const RECAP = 10; // seconds that are told again when the source's path has changed

class Cache {
  constructor() {
    this.entries = new Map(); // subject → { fields, changed: name → when, stale, warm }
    this.blocked = new Map(); // subject → whether somebody has been refused its image
    this.dictionaries = new Map(); // name → { dictionary, dict_csum, data }
    this.dictionary = {}; // the members of all images that say which of these they need
    this.down = false;
  }

  get subjects() {
    return [...this.entries.keys()];
  }

  has(subject) {
    return this.entries.has(subject);
  }

  get(subject) {
    const entry = this.entries.get(subject);
    if (!entry) throw new Error('no such subject');
    return entry;
  }

  put(subject, fields) {
    const entry = this.entries.get(subject) ?? { fields: new Map(), changed: new Map(), stale: false };
    this.entries.set(subject, entry);
    entry.warm = false;
    for (const [name, value] of fields) {
      entry.fields.set(name, value);
      entry.changed.set(name, now());
    }
  }

  replace(subject, fields) {
    this.entries.delete(subject);
    this.put(subject, fields);
  }

  warm(subject, fields) {
    if (this.has(subject) && !this.get(subject).warm) throw new Error('it has a value');
    this.entries.set(subject, { fields, changed: new Map(), stale: false, warm: true });
  }

  /** Makes this the dictionary of all images. Returns whether another has been until now. */
  name(dictionary, data) {
    const old = this.dictionary;
    this.dictionary = { dictionary, dict_csum: BigInt(zlib.crc32(write(data))) };
    this.dictionaries.set(dictionary, { ...this.dictionary, data });
    return old.dictionary !== undefined && write(old) !== write(this.dictionary);
  }

  /** What the values of a subject cannot be relied on for, if anything. */
  doubt(subject) {
    return (this.down && 'feed_down') || (this.get(subject).stale && 'stale') || undefined;
  }

  // -------------------------------------------------------------------------------------------- messages

  /** The part of a message from the status on: an image, or why there is none. */
  image(subject) {
    if (this.blocked.has(subject)) {
      this.blocked.set(subject, true);
      return { status: 'temp_unavail' };
    }
    if (!this.has(subject)) return { status: 'not_found' };
    return { status: this.doubt(subject), format: 'json', ...this.dictionary, data: this.get(subject).fields };
  }

  /** The answer to a start that wants an image. */
  initial(subject) {
    const image = this.image(subject);
    if (image.data && this.get(subject).warm) return { type: 'verify', subject, ...image };
    // The examples give an image that answers a start the type `start`, the table knows all other statuses for `initial`.
    return { type: image.status ? 'initial' : 'start', subject, ...image };
  }

  snapshot(subject) {
    const image = this.image(subject);
    if (image.data && this.get(subject).warm) return { type: 'snap', subject, status: 'not_found' };
    return { type: 'snap', subject, ...image };
  }

  recap(subject) {
    const { fields, changed } = this.has(subject) ? this.get(subject) : { changed: new Map() };
    const names = [...changed].filter(([, when]) => now() - when <= RECAP).map(([name]) => name);
    const data = names.length > 0 ? new Map(names.map((name) => [name, fields.get(name)])) : undefined;
    return { type: 'recap', status: 'feed_switch', data };
  }
}

module.exports = { Cache };
