'use strict';
// Brokers behind one interface. `connect('nats/127.0.0.1:4222', receive)` gives
//
//   subscribe(wildcard), unsubscribe(wildcard)   promises; the wildcard is one of NATS, or a subject
//   publish(subject, bytes)                      in order, and without an answer: nobody may be listening
//   flush()                                      a promise: the broker has all that was published
//   close(error), closed                         closed is a promise of why the connection is over
//
// and calls receive(subject, bytes) with all that comes. A connection that is lost stays lost: what comes after it is
// another session. Redis may deliver more than was asked for, and the same more than once.

const NATS = require('nats');
const Redis = require('ioredis');
const WebSocket = require('ws');

const isLiteral = (wildcard) => wildcard.split('.').every((segment) => segment !== '*' && segment !== '>');

/** The nearest pattern of Redis: its `*` matches dots as well. */
const glob = (wildcard) => wildcard.split('.').map((segment) =>
  (isLiteral(segment) ? segment.replace(/[*?[\]\\]/g, '\\$&') : '*')).join('.');

const unsaid = (error) => console.error(`not published: ${error.message}`); // too long, for example: life goes on

/** A promise of the first reason to close. */
const onlyReason = () => {
  let close;
  const closed = new Promise((resolve) => { close = (error) => resolve(error?.message ?? 'closed'); });
  return { close, closed };
};

// ---------------------------------------------------------------------------------------------- NATS

async function nats(host, port, receive) {
  const connection = await NATS.connect({ servers: `${host}:${port}`, reconnect: false, timeout: 2000 });
  const subscriptions = new Map();
  return {
    async subscribe(wildcard) {
      const callback = (error, message) => {
        if (!error) receive(message.subject, message.data);
      };
      subscriptions.set(wildcard, connection.subscribe(wildcard, { callback }));
      await connection.flush();
    },
    async unsubscribe(wildcard) {
      subscriptions.get(wildcard)?.unsubscribe();
      subscriptions.delete(wildcard);
    },
    publish: (subject, bytes) => connection.publish(subject, bytes),
    flush: () => connection.flush(),
    close: () => connection.close(),
    closed: connection.closed().then((error) => error?.message ?? 'closed'),
  };
}

// ---------------------------------------------------------------------------------------------- Redis

async function redis(host, port, receive) {
  const { close, closed } = onlyReason();
  const options = {
    host, port, lazyConnect: true, connectTimeout: 2000, retryStrategy: null, enableOfflineQueue: false,
    enableReadyCheck: false,
  };
  const listener = new Redis(options); // a connection that has subscribed may do nothing else
  const speaker = new Redis(options);
  for (const connection of [listener, speaker]) {
    connection.on('error', close);
    connection.on('close', close);
  }
  closed.then(() => {
    listener.disconnect();
    speaker.disconnect();
  });
  listener.on('messageBuffer', (channel, bytes) => receive(channel.toString(), bytes));
  listener.on('pmessageBuffer', (pattern, channel, bytes) => receive(channel.toString(), bytes));
  await Promise.all([listener.connect(), speaker.connect()]);
  return {
    subscribe: (wildcard) =>
      (isLiteral(wildcard) ? listener.subscribe(wildcard) : listener.psubscribe(glob(wildcard))),
    unsubscribe: (wildcard) =>
      (isLiteral(wildcard) ? listener.unsubscribe(wildcard) : listener.punsubscribe(glob(wildcard))),
    publish: (subject, bytes) => { speaker.publish(subject, bytes).catch(unsaid); },
    flush: () => speaker.ping(),
    close,
    closed,
  };
}

// ---------------------------------------------------------------------------------------------- RESP over WebSocket

/** A connection on which commands are answered in order, with messages between the answers. */
async function resp(host, port, receive, close) {
  const socket = new WebSocket(`ws://${host}:${port}/`, 'resp', { handshakeTimeout: 2000 });
  const waiting = [];
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', (error) => {
      reject(error);
      close(error);
    });
    socket.on('close', () => close());
  });
  socket.on('message', (frame) => {
    let reply;
    try {
      reply = JSON.parse(frame);
    } catch (error) {
      return close(error);
    }
    const [kind, ...rest] = Array.isArray(reply) ? reply : [];
    if (kind === 'message' || kind === 'pmessage') {
      const [subject, text] = rest.slice(-2);
      return receive(subject, Buffer.from(text));
    }
    const { resolve, reject } = waiting.shift() ?? {};
    if (/^-/.test(reply)) reject?.(new Error(reply)); else resolve?.(reply);
  });
  const command = (...words) => new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    socket.send(`*${words.length}\r\n${parts.join('')}`);
  });
  return { command, end: () => socket.close() };
}

async function websocket(host, port, receive) {
  const { close, closed } = onlyReason();
  const connections = [];
  closed.then(() => connections.forEach((connection) => connection.end()));
  for (let count = 0; count < 2; count++) connections.push(await resp(host, port, receive, close)); // two, as with Redis
  const [listener, speaker] = connections;
  let said = Promise.resolve();
  return {
    subscribe: (wildcard) =>
      (isLiteral(wildcard) ? listener.command('SUBSCRIBE', wildcard) : listener.command('PSUBSCRIBE', glob(wildcard))),
    unsubscribe: (wildcard) =>
      (isLiteral(wildcard)
        ? listener.command('UNSUBSCRIBE', wildcard) : listener.command('PUNSUBSCRIBE', glob(wildcard))),
    publish: (subject, bytes) => {
      said = speaker.command('PUBLISH', subject, bytes.toString()).catch(unsaid);
    },
    flush: () => said,
    close,
    closed,
  };
}

// ---------------------------------------------------------------------------------------------- all

const KINDS = { nats, redis, websocket };

async function connect(address, receive) {
  const match = /^(\w+)\/(.+):(\d+)$/.exec(address ?? '');
  if (!match || !Object.hasOwn(KINDS, match[1])) throw new Error(`not an address: ${address}`);
  const [, kind, host, port] = match;
  const broker = await KINDS[kind](host, Number(port), receive);
  const ifOpen = (promise) => Promise.race([promise, broker.closed]).catch(broker.close);
  return {
    ...broker,
    subscribe: (wildcard) => ifOpen(broker.subscribe(wildcard)),
    unsubscribe: (wildcard) => ifOpen(broker.unsubscribe(wildcard)),
    flush: () => ifOpen(broker.flush()),
    publish(subject, bytes) {
      try {
        broker.publish(subject, bytes);
      } catch (error) {
        unsaid(error);
      }
    },
  };
}

module.exports = { connect };
