'use strict';
// Messages as text: relaxed JSON is read, strict JSON without white space is written.
//
// Digests cover the strict form of what was read, so nothing of it may get lost: objects are Maps, which keep every
// member in its place (a plain object moves names like "22" to the front), and numbers stay as they were written.

/** Why something that was read is dropped. Anything else that is thrown is a bug of ours. */
class Malformed extends Error {}

function check(condition, reason) {
  if (!condition) throw new Malformed(reason);
}

class Numeral {
  constructor(text) {
    this.text = text;
  }
}

const DEEPEST = 100; // a message of nothing but brackets must not exhaust the stack

const TOKEN = new RegExp([
  /([{}[\]:,])/,
  /("[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*")/,
  /(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/,
  /([A-Za-z_][A-Za-z0-9_.-]*)/,
  /$/,
].map((part) => part.source).join('|'), 'y');
const SPACE = /[ \t\n\r]*/y;
const CONSTANTS = new Map([['true', true], ['false', false], ['null', null]]);

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.step();
  }

  /** Goes on to the next token, which is one of: mark (a bracket, colon or comma), string, number, word; else the end. */
  step() {
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    TOKEN.lastIndex = SPACE.lastIndex;
    const match = TOKEN.exec(this.text);
    check(match, 'not JSON');
    [, this.mark, this.string, this.number, this.word] = match;
    this.at = TOKEN.lastIndex;
    this.over = match[0] === '';
  }

  /** Whether the token is this mark; if so, it is left behind. */
  skip(mark) {
    if (this.mark !== mark) return false;
    this.step();
    return true;
  }

  /** A text, with or without quotes; undefined if something else stands here. */
  get words() {
    if (this.word !== undefined) return CONSTANTS.has(this.word) ? undefined : this.word;
    if (this.string === undefined) return undefined;
    const text = JSON.parse(this.string);
    check(text.isWellFormed(), 'half a surrogate pair'); // it has no UTF-8, and so no digest
    return text;
  }

  value(depth = 0) {
    check(depth < DEEPEST, 'too deep');
    if (this.skip('{')) return this.object(depth);
    if (this.skip('[')) return this.array(depth);
    const { words, word, number } = this;
    check(words !== undefined || word !== undefined || number !== undefined, 'not JSON');
    this.step();
    if (words !== undefined) return words;
    return number === undefined ? CONSTANTS.get(word) : new Numeral(number);
  }

  object(depth) {
    const members = new Map();
    while (!this.skip('}')) {
      const name = this.words;
      check(name !== undefined && !members.has(name), 'no name, or one that there is already');
      this.step();
      check(this.skip(':'), 'no colon');
      members.set(name, this.value(depth + 1));
      if (this.skip(',')) continue;
      check(this.mark === '}', 'no comma');
    }
    return members;
  }

  array(depth) {
    const elements = [];
    if (this.skip(']')) return elements;
    do elements.push(this.value(depth + 1)); while (this.skip(','));
    check(this.skip(']'), 'no comma');
    return elements;
  }
}

/** The object in a text. Throws Malformed if it is none. */
function read(text) {
  const reader = new Reader(text);
  const value = reader.value();
  check(reader.over && value instanceof Map, 'not one object');
  return value;
}

/** Also plain objects, without members that are undefined, and integers: what our own messages are made of. */
function write(value) {
  if (value instanceof Numeral) return value.text;
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const all = value instanceof Map ? [...value] : Object.entries(value);
  const members = all.filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`).join(',')}}`;
}

/** A natural number as a BigInt: times and seqnos do not fit into a double. */
function natural(value) {
  check(value instanceof Numeral && /^(0|[1-9]\d*)$/.test(value.text), 'not a natural number');
  return BigInt(value.text);
}

module.exports = { Malformed, Numeral, check, read, write, natural };
