// A codec of zenoh/network-message behind goldwire's pipe (vectors/pipe.md), in Java 17 without libraries.
//
// Written by hand from the documents, to be copied and to disagree: it shares no code with goldwire's engines.
// Integers are long, read as unsigned: Java has no other primitive of 64 bits, and none is needed.

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class Adapter {
    static final String LAYOUT = "zenoh/network-message";
    static final int MOST_EXTENSIONS = 65535;
    static final int MOST_CLOCK_ID = 16;
    static final int DEEPEST = 64;

    /** Bytes that are no message: the class of the reason, and the offset in bytes. */
    static final class Refusal extends RuntimeException {
        final String reason;
        final int offset;

        Refusal(String reason, int offset) {
            super(reason, null, false, false);
            this.reason = reason;
            this.offset = offset;
        }
    }

    /** A value that the layout cannot express; the message says why. */
    static final class Unfit extends RuntimeException {
        Unfit(String why) {
            super(why, null, false, false);
        }
    }

    /** The fields of a message, in order. */
    static final class Fields extends LinkedHashMap<String, Object> {
        Fields with(String name, Object value) {
            put(name, value);
            return this;
        }

        boolean has(String flag) {
            return get(flag) instanceof Long bits && bits != 0;
        }
    }

    // -------------------------------------------------------------------------------------------- decoding

    static final class Reader {
        final byte[] data;
        int at = 0;

        Reader(byte[] data) {
            this.data = data;
        }

        int takeByte() {
            if (at == data.length) {
                throw new Refusal("truncated", at);
            }
            return data[at++] & 0xFF;
        }

        /** A variable-length integer: seven bits a byte, low group first; a ninth byte has all eight. */
        long integer(int bits) {
            int start = at;
            long value = 0;
            for (int index = 0; index < 9; index++) {
                int octet = takeByte();
                if (index == 8) {
                    value |= (long) octet << 56;
                    break;
                }
                value |= (long) (octet & 0x7F) << (7 * index);
                if (octet < 0x80) {
                    break;
                }
            }
            if (bits < 64 && value >>> bits != 0) {
                throw new Refusal("out-of-range", start);
            }
            return value;
        }

        /** Bytes after their count; a count of more than is left is refused where it stands. */
        byte[] octets(int bits) {
            int start = at;
            long count = integer(bits);
            if (count > data.length - at) {
                throw new Refusal("truncated", start);
            }
            at += (int) count;
            return Arrays.copyOfRange(data, at - (int) count, at);
        }

        Fields blob(int bits) {
            return new Fields().with("hex", HexFormat.of().formatHex(octets(bits)));
        }

        /** Refused before it is asked whether so many bytes are left. */
        Fields clockId() {
            int start = at;
            long count = integer(8);
            if (count == 0 || count > MOST_CLOCK_ID) {
                throw new Refusal(count == 0 ? "bad-value" : "too-long", start);
            }
            at = start;
            return blob(8);
        }

        String text(int bits) {
            int start = at;
            byte[] bytes = octets(bits);
            try {
                return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            } catch (CharacterCodingException notText) {
                throw new Refusal("bad-text", start);
            }
        }
    }

    /** Takes a header byte apart: {@code flags} names the bits 7, 6 and 5; '-' is a reserved bit. */
    static Fields split(int octet, String flags) {
        Fields header = new Fields();
        int reserved = 0;
        for (int i = 0; i < 3; i++) {
            if (flags.charAt(i) == '-') {
                reserved |= 0x80 >> i;
            } else {
                header.put(flags.substring(i, i + 1), (long) (octet >> (7 - i) & 1));
            }
        }
        header.put("id", (long) (octet & 0x1F));
        if (reserved != 0) {
            header.put("X", (long) (octet & reserved));
        }
        return header;
    }

    /** The same for a header whose bits 6 and 5 are one number. */
    static Fields splitWide(int octet, String wide) {
        return new Fields()
                .with("Z", (long) (octet >> 7))
                .with(wide, (long) (octet >> 5 & 3))
                .with("id", (long) (octet & 0x1F));
    }

    /** The extensions that follow if Z is set; each one's own Z says whether another follows. */
    static List<Object> readExtensions(Reader reader, Fields header) {
        if (!header.has("Z")) {
            return null;
        }
        List<Object> extensions = new ArrayList<>();
        boolean more = true;
        while (more) {
            if (extensions.size() == MOST_EXTENSIONS) {
                throw new Refusal("too-long", reader.at);
            }
            int octet = reader.takeByte();
            more = octet >> 7 == 1;
            Fields own = new Fields()
                    .with("Z", (long) (octet >> 7))
                    .with("encoding", (long) (octet >> 5 & 3))
                    .with("M", (long) (octet >> 4 & 1))
                    .with("id", (long) (octet & 0x0F));
            Object value = readContent(reader, octet >> 5 & 3, null);
            extensions.add(new Fields().with("header", own).with("value", value));
        }
        return extensions;
    }

    /** What an extension or an OAM carries: nothing, an integer or bytes. */
    static Object readContent(Reader reader, int encoding, Object unit) {
        switch (encoding) {
            case 0:
                return unit;
            case 1:
                return reader.integer(64);
            case 2:
                return reader.blob(32);
            default:
                throw new Refusal("reserved", reader.at - 1);
        }
    }

    static void readKey(Reader reader, Fields value, boolean present, boolean named) {
        value.put("key_scope", present ? reader.integer(16) : null);
        value.put("key_suffix", present && named ? reader.text(16) : null);
    }

    static Fields message(String type, Fields header) {
        return new Fields().with("type", type).with("header", header);
    }

    static Fields readNetworkMessage(Reader reader) {
        int octet = reader.takeByte();
        Fields header;
        Fields value;
        switch (octet & 0x1F) {
            case 0x19:
                return readInterest(reader, octet);
            case 0x1E:
                header = split(octet, "Z-I");
                value = message("DECLARE", header);
                value.put("interest_id", header.has("I") ? reader.integer(32) : null);
                value.put("extensions", readExtensions(reader, header));
                value.put("declaration", readDeclaration(reader));
                return value;
            case 0x1D:
                header = split(octet, "ZMN");
                value = message("PUSH", header);
                readKey(reader, value, true, header.has("N"));
                value.put("extensions", readExtensions(reader, header));
                value.put("body", readBody(reader, List.of("PUT", "DEL")));
                return value;
            case 0x1C:
            case 0x1B:
                boolean request = (octet & 0x1F) == 0x1C;
                header = split(octet, "ZMN");
                value = message(request ? "REQUEST" : "RESPONSE", header);
                value.put("id", reader.integer(32));
                readKey(reader, value, true, header.has("N"));
                value.put("extensions", readExtensions(reader, header));
                value.put("body", readBody(reader, request ? List.of("QUERY") : List.of("REPLY", "ERR")));
                return value;
            case 0x1A:
                header = split(octet, "Z--");
                value = message("RESPONSE_FINAL", header);
                value.put("id", reader.integer(32));
                value.put("extensions", readExtensions(reader, header));
                return value;
            case 0x1F:
                header = splitWide(octet, "encoding");
                value = message("OAM", header);
                value.put("id", reader.integer(16));
                value.put("extensions", readExtensions(reader, header));
                value.put("body", readContent(reader, octet >> 5 & 3, new Fields()));
                return value;
            default:
                throw new Refusal("unknown-id", 0);
        }
    }

    static Fields readInterest(Reader reader, int octet) {
        Fields header = splitWide(octet, "Mod");
        boolean last = (octet >> 5 & 3) == 0;
        Fields value = message(last ? "INTEREST_FINAL" : "INTEREST", header);
        value.put("id", reader.integer(32));
        if (!last) {
            int bits = reader.takeByte();
            Fields options = new Fields();
            for (int i = 0; i < 8; i++) {
                options.put("AMNRTQSK".substring(i, i + 1), (long) (bits >> (7 - i) & 1));
            }
            value.put("options", options);
            readKey(reader, value, options.has("R"), options.has("N"));
        }
        value.put("extensions", readExtensions(reader, header));
        return value;
    }

    /** A declaration: its id, type, flags, the number that it carries and its bits, and whether a key follows. */
    record Declaration(int id, String type, String flags, String number, int bits, boolean keyed) {}

    static final List<Declaration> DECLARATIONS = List.of(
            new Declaration(0x00, "D_KEYEXPR", "Z-N", "expr_id", 16, true),
            new Declaration(0x01, "U_KEYEXPR", "Z--", "expr_id", 16, false),
            new Declaration(0x02, "D_SUBSCRIBER", "ZMN", "subs_id", 32, true),
            new Declaration(0x03, "U_SUBSCRIBER", "Z--", "subs_id", 32, false),
            new Declaration(0x04, "D_QUERYABLE", "ZMN", "qbls_id", 32, true),
            new Declaration(0x05, "U_QUERYABLE", "Z--", "qbls_id", 32, false),
            new Declaration(0x06, "D_TOKEN", "ZMN", "token_id", 32, true),
            new Declaration(0x07, "U_TOKEN", "Z--", "token_id", 32, false),
            new Declaration(0x1A, "D_FINAL", "Z--", null, 0, false));

    static Fields readDeclaration(Reader reader) {
        int start = reader.at;
        int octet = reader.takeByte();
        for (Declaration each : DECLARATIONS) {
            if (each.id() == (octet & 0x1F)) {
                Fields header = split(octet, each.flags());
                Fields value = message(each.type(), header);
                if (each.number() != null) {
                    value.put(each.number(), reader.integer(each.bits()));
                }
                if (each.keyed()) {
                    readKey(reader, value, true, header.has("N"));
                }
                value.put("extensions", readExtensions(reader, header));
                return value;
            }
        }
        throw new Refusal("unknown-id", start);
    }

    /** What a data message carries, by its id: the type and the flags. */
    static final List<String> BODIES = List.of("", "PUT", "DEL", "QUERY", "REPLY", "ERR");
    static final List<String> BODY_FLAGS = List.of("", "ZET", "Z-T", "ZPC", "Z-C", "ZE-");

    /** Reads PUT, DEL, QUERY, REPLY or ERR, if it is one of those that may stand here. */
    static Fields readBody(Reader reader, List<String> allowed) {
        int start = reader.at;
        int octet = reader.takeByte();
        int id = octet & 0x1F;
        if (id >= BODIES.size() || !allowed.contains(BODIES.get(id))) {
            throw new Refusal("unknown-id", start);
        }
        String type = BODIES.get(id);
        Fields header = split(octet, BODY_FLAGS.get(id));
        Fields value = message(type, header);
        if (type.equals("PUT") || type.equals("DEL")) {
            value.put("timestamp", header.has("T") ? readTimestamp(reader) : null);
        }
        if (type.equals("PUT") || type.equals("ERR")) {
            long encoding = header.has("E") ? reader.integer(32) : 0;
            value.put("encoding", header.has("E") ? encoding : null);
            value.put("schema", (encoding & 1) == 1 ? reader.blob(8) : null);
        }
        if (type.equals("QUERY") || type.equals("REPLY")) {
            value.put("consolidation", header.has("C") ? reader.integer(8) : null);
        }
        if (type.equals("QUERY")) {
            value.put("parameters", header.has("P") ? reader.text(32) : null);
        }
        value.put("extensions", readExtensions(reader, header));
        if (type.equals("PUT") || type.equals("ERR")) {
            value.put("payload", reader.blob(32));
        }
        if (type.equals("REPLY")) {
            value.put("body", readBody(reader, List.of("PUT", "DEL")));
        }
        return value;
    }

    static Fields readTimestamp(Reader reader) {
        return new Fields().with("time", reader.integer(64)).with("clock_id", reader.clockId());
    }

    static Fields decode(byte[] data) {
        Reader reader = new Reader(data);
        Fields value = readNetworkMessage(reader);
        if (reader.at < data.length) {
            throw new Refusal("trailing", reader.at);
        }
        return value;
    }

    // -------------------------------------------------------------------------------------------- encoding

    static final class Writer {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();

        /** A variable-length integer in the fewest bytes. */
        void integer(Object value, int bits, String what) {
            long rest = whole(value, bits, what);
            for (int i = 0; i < 8 && rest >>> 7 != 0; i++) {
                out.write((int) (rest & 0x7F | 0x80));
                rest >>>= 7;
            }
            out.write((int) rest);
        }

        void counted(byte[] data, int bits, String what) {
            integer((long) data.length, bits, "the length of " + what);
            out.write(data, 0, data.length);
        }

        void blob(Object value, int bits, String what) {
            if (!(value instanceof Fields fields && fields.get("hex") instanceof String digits)) {
                throw new Unfit(what + " is not bytes");
            }
            try {
                counted(HexFormat.of().parseHex(digits), bits, what);
            } catch (IllegalArgumentException notHex) {
                throw new Unfit(what + " is not bytes");
            }
        }

        void text(Object value, int bits, String what) {
            if (!(value instanceof String characters)) {
                throw new Unfit(what + " is not text");
            }
            try {
                ByteBuffer buffer = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(characters));
                counted(Arrays.copyOf(buffer.array(), buffer.limit()), bits, what);
            } catch (CharacterCodingException half) {
                throw new Unfit(what + " has half of a surrogate pair");
            }
        }
    }

    /** An unsigned integer that fits. */
    static long whole(Object value, int bits, String what) {
        if (!(value instanceof Long number) || (bits < 64 && number >>> bits != 0)) {
            throw new Unfit(what + " is not an unsigned integer of " + bits + " bits");
        }
        return number;
    }

    static Fields table(Object value, String what) {
        if (!(value instanceof Fields fields)) {
            throw new Unfit(what + " is not a table");
        }
        return fields;
    }

    /** A flag of a header; one that is missing counts as 0. */
    static int flag(Fields header, String name, int bits) {
        return header.containsKey(name) ? (int) whole(header.get(name), bits, name) : 0;
    }

    /** Writes a header byte and returns it; {@code flags} as for {@link #split}. */
    static int writeHeader(Writer writer, Fields value, int id, String flags) {
        Fields header = table(value.get("header"), "header");
        int octet = id;
        int reserved = 0;
        for (int i = 0; i < 3; i++) {
            if (flags.charAt(i) == '-') {
                reserved |= 0x80 >> i;
            } else {
                octet |= flag(header, flags.substring(i, i + 1), 1) << (7 - i);
            }
        }
        int unnamed = flag(header, "X", 8);
        if ((unnamed & ~reserved) != 0) {
            throw new Unfit("X has bits that have a name");
        }
        writer.out.write(octet | unnamed);
        return octet;
    }

    /** The same for a header whose bits 6 and 5 are one number. */
    static int writeWideHeader(Writer writer, Fields value, int id, int number) {
        Fields header = table(value.get("header"), "header");
        if (flag(header, "X", 8) != 0) {
            throw new Unfit("X has bits that have a name");
        }
        int octet = flag(header, "Z", 1) << 7 | number << 5 | id;
        writer.out.write(octet);
        return octet;
    }

    /** The extensions if the header has Z; their own Z follow from the order. */
    static void writeExtensions(Writer writer, Fields value, int header) {
        if ((header & 0x80) == 0) {
            return;
        }
        if (!(value.get("extensions") instanceof List<?> list) || list.isEmpty() || list.size() > MOST_EXTENSIONS) {
            throw new Unfit("Z is set: extensions have to be a list of 1 to " + MOST_EXTENSIONS);
        }
        int left = list.size();
        for (Object each : list) {
            Fields extension = table(each, "an extension");
            Fields own = table(extension.get("header"), "header");
            int encoding = flag(own, "encoding", 2);
            if (flag(own, "X", 8) != 0) {
                throw new Unfit("X has bits that have a name");
            }
            int more = --left > 0 ? 0x80 : 0;
            writer.out.write(more | encoding << 5 | flag(own, "M", 1) << 4 | flag(own, "id", 4));
            writeContent(writer, encoding, extension.get("value"), "an extension's value");
        }
    }

    static void writeContent(Writer writer, int encoding, Object value, String what) {
        if (encoding == 3) {
            throw new Unfit("the encoding 3 is reserved");
        } else if (encoding == 1) {
            writer.integer(value, 64, what);
        } else if (encoding == 2) {
            writer.blob(value, 32, what);
        }
    }

    static void writeKey(Writer writer, Fields value, boolean named) {
        writer.integer(value.get("key_scope"), 16, "key_scope");
        if (named) {
            writer.text(value.get("key_suffix"), 16, "key_suffix");
        }
    }

    static void writeNetworkMessage(Writer writer, Fields value) {
        int header;
        switch (String.valueOf(value.get("type"))) {
            case "INTEREST", "INTEREST_FINAL" -> writeInterest(writer, value);
            case "DECLARE" -> {
                header = writeHeader(writer, value, 0x1E, "Z-I");
                if ((header & 0x20) != 0) {
                    writer.integer(value.get("interest_id"), 32, "interest_id");
                }
                writeExtensions(writer, value, header);
                writeDeclaration(writer, table(value.get("declaration"), "declaration"));
            }
            case "PUSH" -> {
                header = writeHeader(writer, value, 0x1D, "ZMN");
                writeKey(writer, value, (header & 0x20) != 0);
                writeExtensions(writer, value, header);
                writeBody(writer, table(value.get("body"), "body"), List.of("PUT", "DEL"));
            }
            case "REQUEST", "RESPONSE" -> {
                boolean request = value.get("type").equals("REQUEST");
                header = writeHeader(writer, value, request ? 0x1C : 0x1B, "ZMN");
                writer.integer(value.get("id"), 32, "id");
                writeKey(writer, value, (header & 0x20) != 0);
                writeExtensions(writer, value, header);
                List<String> allowed = request ? List.of("QUERY") : List.of("REPLY", "ERR");
                writeBody(writer, table(value.get("body"), "body"), allowed);
            }
            case "RESPONSE_FINAL" -> {
                header = writeHeader(writer, value, 0x1A, "Z--");
                writer.integer(value.get("id"), 32, "id");
                writeExtensions(writer, value, header);
            }
            case "OAM" -> {
                int encoding = flag(table(value.get("header"), "header"), "encoding", 2);
                header = writeWideHeader(writer, value, 0x1F, encoding);
                writer.integer(value.get("id"), 16, "id");
                writeExtensions(writer, value, header);
                writeContent(writer, encoding, value.get("body"), "body");
            }
            default -> throw new Unfit("no network message has this type");
        }
    }

    static void writeInterest(Writer writer, Fields value) {
        boolean last = value.get("type").equals("INTEREST_FINAL");
        int mode = last ? 0 : flag(table(value.get("header"), "header"), "Mod", 2);
        if (!last && mode == 0) {
            throw new Unfit("an INTEREST with the mode 0 is an INTEREST_FINAL");
        }
        int header = writeWideHeader(writer, value, 0x19, mode);
        writer.integer(value.get("id"), 32, "id");
        if (!last) {
            Fields options = table(value.get("options"), "options");
            if (flag(options, "X", 8) != 0) {
                throw new Unfit("X has bits that have a name");
            }
            int bits = 0;
            for (int i = 0; i < 8; i++) {
                bits |= flag(options, "AMNRTQSK".substring(i, i + 1), 1) << (7 - i);
            }
            writer.out.write(bits);
            if ((bits & 0x10) != 0) {
                writeKey(writer, value, (bits & 0x20) != 0);
            }
        }
        writeExtensions(writer, value, header);
    }

    static void writeDeclaration(Writer writer, Fields value) {
        for (Declaration each : DECLARATIONS) {
            if (each.type().equals(value.get("type"))) {
                int header = writeHeader(writer, value, each.id(), each.flags());
                if (each.number() != null) {
                    writer.integer(value.get(each.number()), each.bits(), each.number());
                }
                if (each.keyed()) {
                    writeKey(writer, value, (header & 0x20) != 0);
                }
                writeExtensions(writer, value, header);
                return;
            }
        }
        throw new Unfit("no declaration has this type");
    }

    /** Writes PUT, DEL, QUERY, REPLY or ERR, if it is one of those that may stand here. */
    static void writeBody(Writer writer, Fields value, List<String> allowed) {
        if (!(value.get("type") instanceof String type) || !allowed.contains(type)) {
            throw new Unfit("no body of this type can stand here");
        }
        int id = BODIES.indexOf(type);
        int header = writeHeader(writer, value, id, BODY_FLAGS.get(id));
        boolean bit6 = (header & 0x40) != 0;
        boolean bit5 = (header & 0x20) != 0;
        if ((type.equals("PUT") || type.equals("DEL")) && bit5) {
            Fields timestamp = table(value.get("timestamp"), "timestamp");
            writer.integer(timestamp.get("time"), 64, "time");
            int before = writer.out.size();
            writer.blob(timestamp.get("clock_id"), 8, "clock_id");
            int spelled = writer.out.size() - before;
            if (spelled < 2 || spelled > 1 + MOST_CLOCK_ID) {
                throw new Unfit("clock_id has not 1 to " + MOST_CLOCK_ID + " bytes");
            }
        }
        if ((type.equals("PUT") || type.equals("ERR")) && bit6) {
            writer.integer(value.get("encoding"), 32, "encoding");
            if ((whole(value.get("encoding"), 32, "encoding") & 1) == 1) {
                writer.blob(value.get("schema"), 8, "schema");
            }
        }
        if ((type.equals("QUERY") || type.equals("REPLY")) && bit5) {
            writer.integer(value.get("consolidation"), 8, "consolidation");
        }
        if (type.equals("QUERY") && bit6) {
            writer.text(value.get("parameters"), 32, "parameters");
        }
        writeExtensions(writer, value, header);
        if (type.equals("PUT") || type.equals("ERR")) {
            writer.blob(value.get("payload"), 32, "payload");
        }
        if (type.equals("REPLY")) {
            writeBody(writer, table(value.get("body"), "body"), List.of("PUT", "DEL"));
        }
    }

    static byte[] encode(Object value) {
        Writer writer = new Writer();
        writeNetworkMessage(writer, table(value, "a message"));
        return writer.out.toByteArray();
    }

    // -------------------------------------------------------------------------------------------- JSON

    /** Reads JSON: tables are Fields, integers up to 2^64-1 are Long (unsigned), all other numbers are Double. */
    static final class Json {
        final String text;
        int at = 0;
        int depth = 0;

        Json(String text) {
            this.text = text;
        }

        static IllegalArgumentException wrong() {
            return new IllegalArgumentException("a request is not JSON");
        }

        char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return at < text.length() ? text.charAt(at) : '\0';
        }

        boolean accept(char wanted) {
            if (peek() != wanted) {
                return false;
            }
            at++;
            return true;
        }

        void expect(char wanted) {
            if (!accept(wanted)) {
                throw wrong();
            }
        }

        Object whole() {
            Object value = value();
            if (peek() != '\0' || at < text.length()) {
                throw wrong();
            }
            return value;
        }

        Object value() {
            char first = peek();
            if (first == '"') {
                return string();
            }
            if (first == '{' || first == '[') {
                if (++depth > DEEPEST) {
                    throw wrong();
                }
                at++;
                Object value = first == '{' ? table() : list();
                depth--;
                return value;
            }
            int start = at;
            while (at < text.length() && "+-.0123456789eEtrufalsn".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return word(text.substring(start, at));
        }

        Object word(String word) {
            switch (word) {
                case "null":
                    return null;
                case "true":
                    return true;
                case "false":
                    return false;
                default:
                    try {
                        return Long.parseUnsignedLong(word);
                    } catch (NumberFormatException notWhole) {
                        return Double.valueOf(word);
                    }
            }
        }

        Fields table() {
            Fields fields = new Fields();
            if (accept('}')) {
                return fields;
            }
            do {
                if (peek() != '"') {
                    throw wrong();
                }
                String name = string();
                expect(':');
                fields.put(name, value());
            } while (accept(','));
            expect('}');
            return fields;
        }

        List<Object> list() {
            List<Object> items = new ArrayList<>();
            if (accept(']')) {
                return items;
            }
            do {
                items.add(value());
            } while (accept(','));
            expect(']');
            return items;
        }

        String string() {
            StringBuilder out = new StringBuilder();
            at++;
            while (true) {
                if (at >= text.length() || text.charAt(at) < 0x20) {
                    throw wrong();
                }
                char c = text.charAt(at++);
                if (c == '"') {
                    return out.toString();
                }
                out.append(c == '\\' ? escape() : c);
            }
        }

        char escape() {
            char letter = at < text.length() ? text.charAt(at++) : '\0';
            if (letter == 'u' && at + 4 <= text.length()) {
                at += 4;
                return (char) HexFormat.fromHexDigits(text, at - 4, at);
            }
            int found = "\"\\/bfnrt".indexOf(letter);
            if (found < 0) {
                throw wrong();
            }
            return "\"\\/\b\f\n\r\t".charAt(found);
        }

        static void write(StringBuilder out, Object value) {
            if (value instanceof Long number) {
                out.append(Long.toUnsignedString(number));
            } else if (value instanceof String string) {
                writeString(out, string);
            } else if (value instanceof List<?> list) {
                String mark = "[";
                for (Object each : list) {
                    write(out.append(mark), each);
                    mark = ",";
                }
                out.append(list.isEmpty() ? "[]" : "]");
            } else if (value instanceof Fields fields) {
                String mark = "{";
                for (Map.Entry<String, Object> each : fields.entrySet()) {
                    writeString(out.append(mark), each.getKey());
                    write(out.append(':'), each.getValue());
                    mark = ",";
                }
                out.append(fields.isEmpty() ? "{}" : "}");
            } else {
                out.append(value);
            }
        }

        static void writeString(StringBuilder out, String string) {
            out.append('"');
            for (int i = 0; i < string.length(); i++) {
                char c = string.charAt(i);
                if (c == '"' || c == '\\') {
                    out.append('\\').append(c);
                } else if (c < 0x20 || c > 0x7E) {
                    out.append("\\u").append(HexFormat.of().toHexDigits(c));
                } else {
                    out.append(c);
                }
            }
            out.append('"');
        }
    }

    // -------------------------------------------------------------------------------------------- the pipe

    static Fields answer(Fields request) {
        Fields answer = new Fields().with("id", request.get("id"));
        Object wanted = request.get("do");
        if ("describe".equals(wanted)) {
            return answer.with("pipe", "goldwire-pipe-1")
                    .with("name", "goldwire example in Java")
                    .with("version", "1")
                    .with("language", "Java")
                    .with("layouts", List.of(LAYOUT));
        }
        boolean decode = "decode".equals(wanted);
        if (!decode && !"encode".equals(wanted)) {
            return answer.with("error", new Fields().with("detail", "only describe, decode, encode are known"));
        }
        if (!LAYOUT.equals(request.get("layout"))) {
            return answer.with("error", new Fields().with("detail", "only " + LAYOUT + " is spoken here"));
        }
        if (!(request.get(decode ? "frames" : "values") instanceof List<?> items)) {
            return answer.with("error", new Fields().with("detail", "there is no list of frames or values"));
        }
        List<Object> results = new ArrayList<>();
        for (Object item : items) {
            results.add(decode ? decoded((String) item) : encoded(item));
        }
        return answer.with("results", results);
    }

    static Fields decoded(String frame) {
        try {
            return new Fields().with("value", decode(HexFormat.of().parseHex(frame)));
        } catch (Refusal refusal) {
            Fields error = new Fields().with("reason", refusal.reason).with("offset", (long) refusal.offset);
            return new Fields().with("error", error);
        }
    }

    static Fields encoded(Object value) {
        try {
            return new Fields().with("bytes", HexFormat.of().formatHex(encode(value)));
        } catch (Unfit unfit) {
            return new Fields().with("error", new Fields().with("detail", unfit.getMessage()));
        }
    }

    /** Reads a line that ends with LF, and null at the end of the input. */
    static String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int octet;
        while ((octet = in.read()) >= 0 && octet != '\n') {
            line.write(octet);
        }
        return octet < 0 && line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) throws IOException {
        InputStream in = new BufferedInputStream(System.in, 1 << 16);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = readLine(in); line != null; line = readLine(in)) {
            StringBuilder answer = new StringBuilder();
            Json.write(answer, answer((Fields) new Json(line).whole()));
            out.append(answer).append('\n').flush();
        }
    }
}
