// A codec of zenoh/network-message behind goldwire's pipe (vectors/pipe.md), for Node.js without packages.
//
// Written by hand from the documents, to be copied and to disagree: it shares no code with goldwire's engines.
// Integers of 64 bits are BigInt everywhere; JSON.parse would round them, so a small reader of JSON is here too.

"use strict";

const LAYOUT = "zenoh/network-message";
const MOST_EXTENSIONS = 65535;
const MOST_CLOCK_ID = 16;

// Bytes that are no message: the class of the reason, and the offset in bytes.
class Refusal extends Error {
  constructor(reason, offset) {
    super(reason);
    this.reason = reason;
    this.offset = offset;
  }
}

// A value that the layout cannot express; the message says why.
class Unfit extends Error {}

// ------------------------------------------------------------------------------------------------ decoding

// ignoreBOM keeps a byte order mark, which is text like any other here.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class Reader {
  constructor(data) {
    this.data = data;
    this.at = 0;
  }

  byte() {
    if (this.at === this.data.length) throw new Refusal("truncated", this.at);
    return this.data[this.at++];
  }

  // A variable-length integer: seven bits a byte, low group first; a ninth byte has all eight.
  big(bits) {
    const start = this.at;
    let value = 0n;
    for (let index = 0n; index < 9n; index++) {
      const byte = this.byte();
      if (index === 8n) {
        value |= BigInt(byte) << 56n;
        break;
      }
      value |= BigInt(byte & 0x7f) << (7n * index);
      if (byte < 0x80) break;
    }
    if (value >> BigInt(bits) !== 0n) throw new Refusal("out-of-range", start);
    return value;
  }

  // The same for at most 32 bits, as a number.
  integer(bits) {
    return Number(this.big(bits));
  }

  // Bytes after their count; a count of more than is left is refused where it stands.
  blob(bits) {
    const start = this.at;
    const count = this.integer(bits);
    if (count > this.data.length - this.at) throw new Refusal("truncated", start);
    this.at += count;
    return this.data.subarray(this.at - count, this.at);
  }

  // Refused before it is asked whether so many bytes are left.
  clockId() {
    const start = this.at;
    const count = this.integer(8);
    if (count > MOST_CLOCK_ID) throw new Refusal("too-long", start);
    if (count === 0) throw new Refusal("bad-value", start);
    this.at = start;
    return this.blob(8);
  }

  text(bits) {
    const start = this.at;
    const data = this.blob(bits);
    try {
      return utf8.decode(data);
    } catch {
      throw new Refusal("bad-text", start);
    }
  }
}

const hex = (data) => ({ hex: data.toString("hex") });

// Takes a header byte apart: `flags` names the bits 7, 6 and 5; "-" is a reserved bit.
function split(byte, flags) {
  const header = {};
  let reserved = 0;
  [...flags].forEach((name, index) => {
    if (name === "-") reserved |= 0x80 >> index;
    else header[name] = (byte >> (7 - index)) & 1;
  });
  header.id = byte & 0x1f;
  if (reserved) header.X = byte & reserved;
  return header;
}

// The extensions that follow if Z is set; each one's own Z says whether another follows.
function readExtensions(reader, header) {
  if (!header.Z) return null;
  const extensions = [];
  let more = 1;
  while (more) {
    if (extensions.length === MOST_EXTENSIONS) throw new Refusal("too-long", reader.at);
    const byte = reader.byte();
    more = byte >> 7;
    const own = { Z: more, encoding: (byte >> 5) & 3, M: (byte >> 4) & 1, id: byte & 0x0f };
    extensions.push({ header: own, value: readContent(reader, own.encoding, null) });
  }
  return extensions;
}

// What an extension or an OAM carries: nothing, an integer or bytes.
function readContent(reader, encoding, unit) {
  if (encoding === 3) throw new Refusal("reserved", reader.at - 1);
  if (encoding === 0) return unit;
  return encoding === 1 ? reader.big(64) : hex(reader.blob(32));
}

function readKey(reader, flags) {
  return { key_scope: reader.integer(16), key_suffix: flags.N ? reader.text(16) : null };
}

function readNetworkMessage(reader) {
  const byte = reader.byte();
  switch (byte & 0x1f) {
    case 0x19:
      return readInterest(reader, byte);
    case 0x1e: {
      const header = split(byte, "Z-I");
      const interest_id = header.I ? reader.integer(32) : null;
      const extensions = readExtensions(reader, header);
      return { type: "DECLARE", header, interest_id, extensions, declaration: readDeclaration(reader) };
    }
    case 0x1d: {
      const header = split(byte, "ZMN");
      const key = readKey(reader, header);
      const extensions = readExtensions(reader, header);
      return { type: "PUSH", header, ...key, extensions, body: readBody(reader, [0x01, 0x02]) };
    }
    case 0x1c:
    case 0x1b: {
      const request = (byte & 0x1f) === 0x1c;
      const header = split(byte, "ZMN");
      const id = reader.integer(32);
      const key = readKey(reader, header);
      const extensions = readExtensions(reader, header);
      const body = readBody(reader, request ? [0x03] : [0x04, 0x05]);
      return { type: request ? "REQUEST" : "RESPONSE", header, id, ...key, extensions, body };
    }
    case 0x1a: {
      const header = split(byte, "Z--");
      const id = reader.integer(32);
      return { type: "RESPONSE_FINAL", header, id, extensions: readExtensions(reader, header) };
    }
    case 0x1f: {
      const header = { Z: byte >> 7, encoding: (byte >> 5) & 3, id: 0x1f };
      const id = reader.integer(16);
      const extensions = readExtensions(reader, header);
      return { type: "OAM", header, id, extensions, body: readContent(reader, header.encoding, {}) };
    }
    default:
      throw new Refusal("unknown-id", 0);
  }
}

function readInterest(reader, byte) {
  const header = { Z: byte >> 7, Mod: (byte >> 5) & 3, id: 0x19 };
  const id = reader.integer(32);
  if (header.Mod === 0) return { type: "INTEREST_FINAL", header, id, extensions: readExtensions(reader, header) };
  const bits = reader.byte();
  const options = {};
  [..."AMNRTQSK"].forEach((name, index) => (options[name] = (bits >> (7 - index)) & 1));
  const key = options.R ? readKey(reader, options) : { key_scope: null, key_suffix: null };
  return { type: "INTEREST", header, id, options, ...key, extensions: readExtensions(reader, header) };
}

// The declarations by their id: type, flags, the number they carry with its bits, and whether a key follows.
const DECLARATIONS = new Map([
  [0x00, ["D_KEYEXPR", "Z-N", "expr_id", 16, true]],
  [0x01, ["U_KEYEXPR", "Z--", "expr_id", 16, false]],
  [0x02, ["D_SUBSCRIBER", "ZMN", "subs_id", 32, true]],
  [0x03, ["U_SUBSCRIBER", "Z--", "subs_id", 32, false]],
  [0x04, ["D_QUERYABLE", "ZMN", "qbls_id", 32, true]],
  [0x05, ["U_QUERYABLE", "Z--", "qbls_id", 32, false]],
  [0x06, ["D_TOKEN", "ZMN", "token_id", 32, true]],
  [0x07, ["U_TOKEN", "Z--", "token_id", 32, false]],
  [0x1a, ["D_FINAL", "Z--", null, 0, false]],
]);

function readDeclaration(reader) {
  const start = reader.at;
  const byte = reader.byte();
  const found = DECLARATIONS.get(byte & 0x1f);
  if (found === undefined) throw new Refusal("unknown-id", start);
  const [type, flags, number, bits, keyed] = found;
  const header = split(byte, flags);
  const value = { type, header };
  if (number !== null) value[number] = reader.integer(bits);
  if (keyed) Object.assign(value, readKey(reader, header));
  value.extensions = readExtensions(reader, header);
  return value;
}

// PUT, DEL, QUERY, REPLY or ERR, if it is one of those that may stand here.
function readBody(reader, allowed) {
  const start = reader.at;
  const byte = reader.byte();
  const id = byte & 0x1f;
  if (!allowed.includes(id)) throw new Refusal("unknown-id", start);
  const value = { type: ["", "PUT", "DEL", "QUERY", "REPLY", "ERR"][id] };
  const header = (value.header = split(byte, ["", "ZET", "Z-T", "ZPC", "Z-C", "ZE-"][id]));
  if (id === 0x01 || id === 0x02) {
    value.timestamp = header.T ? { time: reader.big(64), clock_id: hex(reader.clockId()) } : null;
  }
  if (id === 0x01 || id === 0x05) {
    value.encoding = header.E ? reader.integer(32) : null;
    value.schema = header.E && value.encoding % 2 === 1 ? hex(reader.blob(8)) : null;
  }
  if (id === 0x03 || id === 0x04) value.consolidation = header.C ? reader.integer(8) : null;
  if (id === 0x03) value.parameters = header.P ? reader.text(32) : null;
  value.extensions = readExtensions(reader, header);
  if (id === 0x01 || id === 0x05) value.payload = hex(reader.blob(32));
  if (id === 0x04) value.body = readBody(reader, [0x01, 0x02]);
  return value;
}

function decode(data) {
  const reader = new Reader(data);
  const value = readNetworkMessage(reader);
  if (reader.at < data.length) throw new Refusal("trailing", reader.at);
  return value;
}

// ------------------------------------------------------------------------------------------------ encoding

class Writer {
  constructor() {
    this.parts = [];
  }

  byte(byte) {
    this.parts.push(Buffer.of(byte));
  }

  // A variable-length integer in the fewest bytes.
  integer(value, bits, what) {
    let rest = whole(value, bits, what);
    const bytes = [];
    while (rest > 0x7fn && bytes.length < 8) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.parts.push(Buffer.from([...bytes, Number(rest)]));
  }

  counted(data, bits, what) {
    this.integer(data.length, bits, `the length of ${what}`);
    this.parts.push(data);
  }

  blob(value, bits, what) {
    const digits = value === null || typeof value !== "object" ? undefined : value.hex;
    if (typeof digits !== "string" || !/^([0-9a-f]{2})*$/.test(digits)) throw new Unfit(`${what} is not bytes`);
    this.counted(Buffer.from(digits, "hex"), bits, what);
  }

  text(value, bits, what) {
    if (typeof value !== "string") throw new Unfit(`${what} is not text`);
    if (/\p{Surrogate}/u.test(value)) throw new Unfit(`${what} has half of a surrogate pair`);
    this.counted(Buffer.from(value, "utf8"), bits, what);
  }
}

// An unsigned integer that fits, as a BigInt.
function whole(value, bits, what) {
  const big = typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof big !== "bigint" || big < 0n || big >> BigInt(bits) !== 0n) {
    throw new Unfit(`${what} is not an unsigned integer of ${bits} bits`);
  }
  return big;
}

function table(value, what) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Unfit(`${what} is not a table`);
  return value;
}

// A flag of a header; one that is missing counts as 0.
function flag(header, name, bits = 1) {
  return header[name] === undefined ? 0 : Number(whole(header[name], bits, name));
}

// Writes a header byte and returns it; `flags` as for split().
function writeHeader(writer, value, id, flags) {
  const header = table(value.header, "header");
  let reserved = 0;
  let byte = id;
  [...flags].forEach((name, index) => {
    if (name === "-") reserved |= 0x80 >> index;
    else byte |= flag(header, name) << (7 - index);
  });
  const X = flag(header, "X", 8);
  if (X & ~reserved) throw new Unfit("X has bits that have a name");
  writer.byte(byte | X);
  return byte;
}

// The same for a header whose bits 6 and 5 are one number.
function writeWideHeader(writer, value, id, number) {
  const header = table(value.header, "header");
  if (flag(header, "X", 8)) throw new Unfit("X has bits that have a name");
  const byte = (flag(header, "Z") << 7) | (number << 5) | id;
  writer.byte(byte);
  return byte;
}

// The extensions if the header has Z; their own Z follow from the order.
function writeExtensions(writer, value, header) {
  if (!(header & 0x80)) return;
  const extensions = value.extensions;
  if (!Array.isArray(extensions) || extensions.length === 0 || extensions.length > MOST_EXTENSIONS) {
    throw new Unfit(`Z is set: extensions have to be a list of 1 to ${MOST_EXTENSIONS}`);
  }
  extensions.forEach((each, index) => {
    const own = table(table(each, "an extension").header, "header");
    const encoding = flag(own, "encoding", 2);
    if (flag(own, "X", 8)) throw new Unfit("X has bits that have a name");
    const more = index + 1 < extensions.length ? 0x80 : 0;
    writer.byte(more | (encoding << 5) | (flag(own, "M") << 4) | flag(own, "id", 4));
    writeContent(writer, encoding, each.value, "an extension's value");
  });
}

function writeContent(writer, encoding, value, what) {
  if (encoding === 3) throw new Unfit("the encoding 3 is reserved");
  if (encoding === 1) writer.integer(value, 64, what);
  if (encoding === 2) writer.blob(value, 32, what);
}

function writeKey(writer, value, named) {
  writer.integer(value.key_scope, 16, "key_scope");
  if (named) writer.text(value.key_suffix, 16, "key_suffix");
}

function writeNetworkMessage(writer, value) {
  switch (value.type) {
    case "INTEREST":
    case "INTEREST_FINAL":
      return writeInterest(writer, value);
    case "DECLARE": {
      const header = writeHeader(writer, value, 0x1e, "Z-I");
      if (header & 0x20) writer.integer(value.interest_id, 32, "interest_id");
      writeExtensions(writer, value, header);
      return writeDeclaration(writer, table(value.declaration, "declaration"));
    }
    case "PUSH": {
      const header = writeHeader(writer, value, 0x1d, "ZMN");
      writeKey(writer, value, header & 0x20);
      writeExtensions(writer, value, header);
      return writeBody(writer, table(value.body, "body"), ["PUT", "DEL"]);
    }
    case "REQUEST":
    case "RESPONSE": {
      const request = value.type === "REQUEST";
      const header = writeHeader(writer, value, request ? 0x1c : 0x1b, "ZMN");
      writer.integer(value.id, 32, "id");
      writeKey(writer, value, header & 0x20);
      writeExtensions(writer, value, header);
      return writeBody(writer, table(value.body, "body"), request ? ["QUERY"] : ["REPLY", "ERR"]);
    }
    case "RESPONSE_FINAL": {
      const header = writeHeader(writer, value, 0x1a, "Z--");
      writer.integer(value.id, 32, "id");
      return writeExtensions(writer, value, header);
    }
    case "OAM": {
      const encoding = flag(table(value.header, "header"), "encoding", 2);
      const header = writeWideHeader(writer, value, 0x1f, encoding);
      writer.integer(value.id, 16, "id");
      writeExtensions(writer, value, header);
      return writeContent(writer, encoding, value.body, "body");
    }
    default:
      throw new Unfit("no network message has this type");
  }
}

function writeInterest(writer, value) {
  const final = value.type === "INTEREST_FINAL";
  const mode = final ? 0 : flag(table(value.header, "header"), "Mod", 2);
  if (!final && mode === 0) throw new Unfit("an INTEREST with the mode 0 is an INTEREST_FINAL");
  const header = writeWideHeader(writer, value, 0x19, mode);
  writer.integer(value.id, 32, "id");
  if (!final) {
    const options = table(value.options, "options");
    if (flag(options, "X", 8)) throw new Unfit("X has bits that have a name");
    writer.byte([..."AMNRTQSK"].reduce((byte, name, index) => byte | (flag(options, name) << (7 - index)), 0));
    if (flag(options, "R")) writeKey(writer, value, flag(options, "N"));
  }
  writeExtensions(writer, value, header);
}

function writeDeclaration(writer, value) {
  for (const [id, [type, flags, number, bits, keyed]] of DECLARATIONS) {
    if (type !== value.type) continue;
    const header = writeHeader(writer, value, id, flags);
    if (number !== null) writer.integer(value[number], bits, number);
    if (keyed) writeKey(writer, value, header & 0x20);
    writeExtensions(writer, value, header);
    return;
  }
  throw new Unfit("no declaration has this type");
}

// PUT, DEL, QUERY, REPLY or ERR, if it is one of those that may stand here.
function writeBody(writer, value, allowed) {
  if (!allowed.includes(value.type)) throw new Unfit("no body of this type can stand here");
  const id = ["", "PUT", "DEL", "QUERY", "REPLY", "ERR"].indexOf(value.type);
  const header = writeHeader(writer, value, id, ["", "ZET", "Z-T", "ZPC", "Z-C", "ZE-"][id]);
  const bit6 = header & 0x40;
  const bit5 = header & 0x20;
  if ((id === 0x01 || id === 0x02) && bit5) {
    const timestamp = table(value.timestamp, "timestamp");
    writer.integer(timestamp.time, 64, "time");
    writer.blob(timestamp.clock_id, 8, "clock_id");
    const size = timestamp.clock_id.hex.length / 2;
    if (size < 1 || size > MOST_CLOCK_ID) throw new Unfit(`clock_id has not 1 to ${MOST_CLOCK_ID} bytes`);
  }
  if ((id === 0x01 || id === 0x05) && bit6) {
    writer.integer(value.encoding, 32, "encoding");
    if (Number(value.encoding) % 2 === 1) writer.blob(value.schema, 8, "schema");
  }
  if ((id === 0x03 || id === 0x04) && bit5) writer.integer(value.consolidation, 8, "consolidation");
  if (id === 0x03 && bit6) writer.text(value.parameters, 32, "parameters");
  writeExtensions(writer, value, header);
  if (id === 0x01 || id === 0x05) writer.blob(value.payload, 32, "payload");
  if (id === 0x04) writeBody(writer, table(value.body, "body"), ["PUT", "DEL"]);
}

function encode(value) {
  const writer = new Writer();
  writeNetworkMessage(writer, table(value, "a message"));
  return Buffer.concat(writer.parts);
}

// ------------------------------------------------------------------------------------------------ JSON

const TOKEN = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|(true|false|null))/y;

// Reads JSON as JSON.parse does, but integers beyond 2^53 become BigInt instead of something near them.
function parse(text) {
  TOKEN.lastIndex = 0;
  const next = () => {
    const token = TOKEN.exec(text);
    if (token === null) throw new SyntaxError("not JSON");
    return token;
  };
  const read = ([, mark, string, number, word]) => {
    if (string !== undefined) return JSON.parse(string);
    if (number !== undefined) {
      return /^-?[0-9]+$/.test(number) && !Number.isSafeInteger(Number(number)) ? BigInt(number) : Number(number);
    }
    if (word !== undefined) return JSON.parse(word);
    if (mark === "[") {
      const list = [];
      for (let token = next(); token[1] !== "]"; token = next()) {
        if (list.length > 0) {
          if (token[1] !== ",") throw new SyntaxError("not JSON");
          token = next();
        }
        list.push(read(token));
      }
      return list;
    }
    if (mark !== "{") throw new SyntaxError("not JSON");
    const entries = [];
    for (let token = next(); token[1] !== "}"; token = next()) {
      if (entries.length > 0) {
        if (token[1] !== ",") throw new SyntaxError("not JSON");
        token = next();
      }
      if (token[2] === undefined || next()[1] !== ":") throw new SyntaxError("not JSON");
      entries.push([JSON.parse(token[2]), read(next())]);
    }
    return Object.fromEntries(entries);
  };
  const value = read(next());
  if (text.slice(TOKEN.lastIndex).trim() !== "") throw new SyntaxError("not JSON");
  return value;
}

// Writes JSON as JSON.stringify does, and BigInt as an integer.
function stringify(value) {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(stringify).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${stringify(part)}`).join(",")}}`;
}

// ------------------------------------------------------------------------------------------------ the pipe

function answer(request) {
  if (request.do === "describe") {
    return {
      pipe: "goldwire-pipe-1",
      name: "goldwire example in JavaScript",
      version: "1",
      language: "JavaScript",
      layouts: [LAYOUT],
    };
  }
  if (request.do !== "decode" && request.do !== "encode") return { error: { detail: `cannot do ${request.do}` } };
  if (request.layout !== LAYOUT) return { error: { detail: `only ${LAYOUT} is spoken here` } };
  return { results: request.do === "decode" ? request.frames.map(decoded) : request.values.map(encoded) };
}

function decoded(frame) {
  try {
    return { value: decode(Buffer.from(frame, "hex")) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: { reason: error.reason, offset: error.offset } };
  }
}

function encoded(value) {
  try {
    return { bytes: encode(value).toString("hex") };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { error: { detail: error.message } };
  }
}

// Lines end with LF and nothing else (node:readline ends them elsewhere too, such as at U+2028).
let pieces = [];
process.stdin.on("data", (chunk) => {
  let start = 0;
  for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
    const line = Buffer.concat([...pieces, chunk.subarray(start, end)]).toString("utf8");
    const request = parse(line);
    process.stdout.write(`${stringify({ id: request.id, ...answer(request) })}\n`);
    pieces = [];
    start = end + 1;
  }
  pieces.push(chunk.subarray(start));
});
