'use strict';
// Subjects, wildcards of NATS, and PCREs.
//
// A pattern comes from somebody else, and is tried on every subject that is published: no pattern may make that slow.
// So it becomes a machine that is in many states at once and sees each character of a subject once, and what no such
// machine can do (look around, refer back) is refused.

const { Malformed, check } = require('./rai-json.js');

const LONGEST_SUBJECT = 1000; // a NATS server cuts the connection when it is told of one that is much longer
const LONGEST_PATTERN = 1000;
const MOST_STATES = 2000;

const areSegments = (text, fits) =>
  text.length <= LONGEST_SUBJECT
  && text.split('.').every((segment, at, all) =>
    /^[^\s\0-\x1f\x7f]+$/.test(segment) && fits(segment, at === all.length - 1));

/** Segments with dots between, none of them empty or a wildcard, all without white space. */
const isSubject = (text) => areSegments(text, (segment) => segment !== '*' && segment !== '>');

/** `*` stands for one segment, `>` at the end for one or more. Subjects are wildcards as well, for themselves. */
const isWildcard = (text) => areSegments(text, (segment, last) => segment !== '>' || last);

/** { prefix, pattern } of a wildcard: the segments before the first that is none, and the PCRE that says the same. */
function pcre(wildcard) {
  const segments = wildcard.split('.');
  const first = segments.findIndex((segment) => segment === '*' || segment === '>');
  const patterns = segments.map((segment) => {
    if (segment === '*') return '[^.]+';
    return segment === '>' ? '.+' : segment.replace(/[^A-Za-z0-9_\u0080-\uffff]/g, '\\$&');
  });
  const prefix = segments.slice(0, first < 0 ? undefined : first).join('.');
  return { prefix, pattern: `(?s)\\A${patterns.join('\\.')}\\z` };
}

// ---------------------------------------------------------------------------------------------- characters

const between = (low, high) => (c) => c >= low && c <= high;
const oneOf = (tests) => (c) => tests.some((test) => test(c));
const not = (test) => (c) => !test(c);
const is = (character) => {
  const code = character.codePointAt(0);
  return (c) => c === code;
};

const upper = between(65, 90);
const lower = between(97, 122);
const digit = between(48, 57);
const alpha = oneOf([upper, lower]);
const word = oneOf([alpha, digit, is('_')]);
const space = oneOf([between(9, 13), is(' ')]);
const horizontal = oneOf([is(' '), is('\t')]);
const SETS = {
  d: digit, w: word, s: space, h: horizontal, D: not(digit), W: not(word), S: not(space), H: not(horizontal),
};
const POSIX = {
  alpha, digit, upper, lower, word, space, alnum: oneOf([alpha, digit]),
  xdigit: oneOf([digit, between(65, 70), between(97, 102)]), blank: horizontal, punct: oneOf([between(33, 47),
    between(58, 64), between(91, 96), between(123, 126)]), print: between(32, 126), graph: between(33, 126),
};
const SINGLE = { t: '\t', n: '\n', r: '\r', f: '\f', e: '\x1b', a: '\x07' };

/** What has to hold between two characters (their codes, or undefined at an end). */
const ASSERTIONS = {
  A: (before) => before === undefined,
  z: (before, after) => after === undefined,
  Z: (before, after, last) => after === undefined || (last && after === 10),
  b: (before, after) => word(before) !== word(after),
  B: (before, after) => word(before) === word(after),
};

// ---------------------------------------------------------------------------------------------- patterns

/** Reads a pattern into a function that builds its states: given the state that comes next, it returns the first. */
class Pattern {
  constructor(text) {
    check(text.length <= LONGEST_PATTERN, 'pattern too long');
    this.rest = text;
    this.flags = { i: false, s: false };
    this.count = 0;
    const build = this.alternatives();
    check(this.rest === '', 'pattern with a bracket too many');
    this.first = build({ end: true });
  }

  take(regexp) {
    const match = regexp.exec(this.rest);
    if (match) this.rest = this.rest.slice(match[0].length);
    return match;
  }

  state(fields) {
    check(++this.count <= MOST_STATES, 'pattern too big');
    return fields;
  }

  either(...states) {
    return this.state({ either: states });
  }

  character(test) {
    const folded = this.flags.i ? (c) => test(c) || test(alpha(c) ? c ^ 32 : c) : test;
    return (next) => this.state({ test: folded, next });
  }

  assertion(holds) {
    return (next) => this.state({ holds, next });
  }

  alternatives() {
    const outside = { ...this.flags };
    const builds = [];
    do builds.push(this.sequence()); while (this.take(/^\|/));
    this.flags = outside; // flags that are set in a group end with it
    return builds.length === 1 ? builds[0] : (next) => this.either(...builds.map((build) => build(next)));
  }

  sequence() {
    const builds = [];
    while (this.rest !== '' && !/^[|)]/.test(this.rest)) builds.push(this.repeated(this.item()));
    return (next) => builds.reduceRight((after, build) => build(after), next);
  }

  repeated(build) {
    const match = this.take(/^(?:([*+?])|\{(\d{1,4})(,)?(\d{1,4})?\})/);
    if (!match) return build;
    check(!this.take(/^\+/), 'possessive quantifier');
    this.take(/^\?/); // lazy or greedy makes no difference to whether there is a match
    const [, sign, from, comma, to] = match;
    if (sign) return this.times(build, Number(sign === '+'), sign === '?' ? 1 : Infinity);
    const most = comma ? Number(to ?? Infinity) : Number(from);
    check(Number(from) <= most, 'pattern with a wrong quantifier');
    return this.times(build, Number(from), most);
  }

  times(build, least, most) {
    return (next) => {
      let first = next;
      if (most === Infinity) {
        first = this.either(next);
        first.either.push(build(first));
      } else {
        for (let left = most - least; left > 0; left--) first = this.either(build(first), next);
      }
      for (let left = least; left > 0; left--) first = build(first);
      return first;
    };
  }

  item() {
    if (this.take(/^\(/)) return this.group();
    if (this.take(/^\[/)) return this.character(this.set());
    if (this.take(/^\./)) return this.character(this.flags.s ? () => true : not(is('\n')));
    if (this.take(/^\^/)) return this.assertion(ASSERTIONS.A);
    if (this.take(/^\$/)) return this.assertion(ASSERTIONS.Z);
    const quoted = this.take(/^\\Q(.*?)(?:\\E|$)/s);
    if (quoted) {
      const builds = [...quoted[1]].map((character) => this.character(is(character)));
      return (next) => builds.reduceRight((after, build) => build(after), next);
    }
    const assertion = this.take(/^\\([AzZbB])/);
    if (assertion) return this.assertion(ASSERTIONS[assertion[1]]);
    check(!/^[*+?]/.test(this.rest), 'pattern that repeats nothing');
    return this.character(this.one());
  }

  group() {
    const flags = this.take(/^\?([ims]*)(?:-([ims]+))?([:)])/);
    const outside = this.flags;
    if (flags) {
      const [, on, off = ''] = flags;
      check(!on.includes('m'), 'pattern over several lines'); // a subject is one
      this.flags = { ...outside };
      for (const flag of on) this.flags[flag] = true;
      for (const flag of off) this.flags[flag] = false;
      if (flags[3] === ')') return (next) => next; // for what follows in the group around this
    } else {
      check(this.take(/^\?(?:P?<[A-Za-z_]\w*>|'[A-Za-z_]\w*')/) || !/^[?*]/.test(this.rest), 'pattern that looks around');
    }
    const build = this.alternatives();
    this.flags = outside;
    check(this.take(/^\)/), 'pattern with an open bracket');
    return build;
  }

  /** The code of one character, escaped or not; undefined if an escape for several of them stands here. */
  code() {
    const hexadecimal = this.take(/^\\x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/);
    if (hexadecimal) return parseInt(hexadecimal[1] ?? hexadecimal[2], 16);
    const escaped = this.take(/^\\([tnrfea])/);
    if (escaped) return SINGLE[escaped[1]].codePointAt(0);
    return this.take(/^\\?([^A-Za-z0-9\\])/su)?.[1].codePointAt(0) // a sign stands for itself, also behind a backslash
      ?? this.take(/^(?:\\(\\)|[A-Za-z0-9])/)?.[0].codePointAt(0);
  }

  /** The test of a character, or of an escape for several. */
  one() {
    const code = this.code();
    if (code !== undefined) return between(code, code);
    const set = this.take(/^\\([dwshDWSH])/);
    check(set, 'pattern with an unknown escape');
    return SETS[set[1]];
  }

  set() {
    const negated = this.take(/^\^/);
    const tests = [];
    for (let first = true; first || !this.take(/^\]/); first = false) { // a bracket that stands first is one of the set
      check(this.rest !== '', 'pattern with an open set');
      const named = this.take(/^\[:(\^?)([a-z]+):\]/);
      if (named) {
        check(Object.hasOwn(POSIX, named[2]), 'pattern with an unknown set');
        tests.push(named[1] ? not(POSIX[named[2]]) : POSIX[named[2]]);
        continue;
      }
      const low = this.code();
      if (low === undefined) {
        tests.push(this.one());
      } else if (this.take(/^-(?!\])/)) {
        const high = this.code();
        check(high >= low, 'pattern with a wrong range');
        tests.push(between(low, high));
      } else {
        tests.push(between(low, low));
      }
    }
    return negated ? not(oneOf(tests)) : oneOf(tests);
  }
}

/** Whether a pattern is found in a text, as a function of the text. Throws Malformed for what cannot be told. */
function matcher(pattern) {
  const { first } = new Pattern(pattern);
  return (text) => {
    const codes = Array.from(text, (character) => character.codePointAt(0));
    let states = new Set();
    for (let at = 0; at <= codes.length; at++) {
      const found = new Set();
      const open = [first, ...states]; // the match may begin at every character
      while (open.length > 0) {
        const state = open.pop();
        if (state.end) return true;
        if (found.has(state)) continue;
        found.add(state);
        if (state.either) open.push(...state.either);
        if (state.holds?.(codes[at - 1], codes[at], at === codes.length - 1)) open.push(state.next);
      }
      states = new Set();
      for (const state of found) {
        if (at < codes.length && state.test?.(codes[at])) states.add(state.next);
      }
    }
    return false;
  };
}

module.exports = { Malformed, isSubject, isWildcard, pcre, matcher };
