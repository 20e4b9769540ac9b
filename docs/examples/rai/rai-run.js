'use strict';
// What both programs need to run: the clock, control lines, and a session on every connection to the broker.

const { connect } = require('./rai-broker.js');

const log = (text) => process.stderr.write(`${text.replace(/[\r\n]/g, ' ')}\n`);
const event = (...words) => process.stdout.write(`event ${words.join(' ')}\n`);

// ---------------------------------------------------------------------------------------------- the clock

/** A tester has no patience for minutes: GOLDWIRE_TEMPO seconds of the protocol pass in one of the clock. */
const TEMPO = Number(process.env.GOLDWIRE_TEMPO ?? 1);
const LONGEST = 2 ** 31 - 1; // of a timer of node's; what is longer would be over at once

/** Seconds of the protocol, since some time. */
const now = () => performance.now() / 1000 * TEMPO;
const after = (seconds, action) => setTimeout(action, Math.min(seconds * 1000 / TEMPO, LONGEST));

let latest = 0n;

/** Microseconds since 1970; never the same twice, as answers are told apart by the time of what they answer. */
function utc() {
  const time = BigInt(Math.round(Date.now() * 1000 * TEMPO));
  latest = time > latest ? time : latest + 1n;
  return latest;
}

// ---------------------------------------------------------------------------------------------- control lines

const PATIENCE = 1000; // milliseconds of the clock for the last words before the end

/** Control lines: `SEQ VERB ARGS` on standard input, `SEQ ok` or `SEQ error TEXT` on standard output, in this order. */
function control(answer, stop) {
  let before = Promise.resolve();
  const handle = async (line) => {
    const match = /^(\d+) (\S+) ?(.*)$/s.exec(line);
    if (!match) return log(`not a control line: ${line}`);
    const [, seq, verb, rest] = match;
    try {
      const text = await answer(verb, rest);
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
    for (const line of lines) before = before.then(() => handle(line));
  });
  process.stdin.on('end', () => {
    before.then(stop);
    setTimeout(stop, PATIENCE); // what waits for a broker that does not come is not waited for
  });
  process.on('SIGTERM', stop);
}

// ---------------------------------------------------------------------------------------------- a node

const PAUSE = 100; // milliseconds of the clock between two attempts to connect

/**
 * Runs a node with these verbs: `open` makes the session on a connection. A connection that is lost is made again, and
 * every one is another session, with another NONCE: nobody can know what was lost with the one before.
 */
function run(address, verbs, open) {
  let session = null;
  let ended = false;
  let began; // resolves the promise that those wait for who need a session
  let beginning = new Promise((resolve) => { began = resolve; });

  const work = async () => {
    while (!ended) {
      try {
        const broker = await connect(address, (subject, bytes) => session?.receive(subject, bytes));
        session = open(broker);
        session.open().then(() => began(), broker.close);
        const reason = await broker.closed;
        log(`connection lost: ${reason}`);
      } catch (error) {
        log(`no connection: ${error.message}`);
      }
      session?.close();
      session = null;
      beginning = new Promise((resolve) => { began = resolve; });
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
  };

  const end = async () => {
    ended = true;
    await session?.bye();
  };

  const table = { verbs: () => Object.keys(table).join(' '), ...verbs, end };
  const answer = async (verb, rest) => {
    if (!Object.hasOwn(table, verb)) throw new Error(`unsupported verb '${verb}'`);
    if (ended && verb !== 'verbs') throw new Error('the session has ended');
    if (!ended) await beginning;
    const text = await table[verb](rest);
    await session?.flush(); // the answer says that it is done
    return text;
  };
  beginning.then(() => process.stdout.write('ready\n'));
  control(answer, () => {
    setTimeout(() => process.exit(0), PATIENCE);
    end().finally(() => process.exit(0));
  });
  work();
}

module.exports = { log, event, now, after, utc, run };
