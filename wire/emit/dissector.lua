-- Reading: what every dissector that goldwire generates has, whatever the protocol.
--
-- A frame that is refused raises an error, a table { reason, at, detail }: it ends the reading wherever it stands, as
-- in goldwire's own engines, and `dissect` shows it. Every position is an offset in the frame.

local fields = {} -- by key: { field = ProtoField, kind = …, bits = … }; a key is the filter's name without the protocol
local read = {} -- by name: the function that reads a record, and returns those of its values that others depend on
local unions = {} -- by name: what each first byte begins
local titles = {} -- by key: what a record is called, by bits of its first field and the message that has it
local after = {} -- by key: what a protocol does with a record that was read: function(reader, this, start)

local refused = ProtoExpert.new(PREFIX .. "refused", "Refused", expert.group.MALFORMED, expert.severity.ERROR)
local overlong = ProtoExpert.new(PREFIX .. "overlong", "Overlong", expert.group.PROTOCOL, expert.severity.WARN)
local reserved = ProtoExpert.new(PREFIX .. "reserved", "Reserved", expert.group.PROTOCOL, expert.severity.NOTE)
local damaged = ProtoExpert.new(PREFIX .. "damaged", "Damaged", expert.group.CHECKSUM, expert.severity.WARN)

fields.reason = { field = ProtoField.string(PREFIX .. "reason", "Refused"), kind = "string" }

local function refuse(reason, at, detail)
    error({ reason = reason, at = at, detail = detail }, 0)
end

-- Numbers. Lua 5.2 has doubles only, which are exact up to 2^53; what is larger is an Int64, and then always.

local EXACT = 2 ^ 53

local function wide(number)
    return type(number) == "number" and Int64.new(number) or number
end

local function narrow(number)
    if number > -EXACT and number < EXACT then
        return number:tonumber()
    end
    return number
end

local function plain(unsigned) -- a UInt64 as the number that expressions compute with
    if type(unsigned) == "number" then
        return unsigned
    elseif unsigned < UInt64.new(EXACT) then
        return unsigned:tonumber()
    end
    return Int64.new(unsigned:lower(), unsigned:higher())
end

-- What expressions are made of where Lua's own operators are not exact, or not there.

local function add(a, b) return narrow(wide(a) + wide(b)) end
local function sub(a, b) return narrow(wide(a) - wide(b)) end
local function mul(a, b) return narrow(wide(a) * wide(b)) end
local function band(a, b) return narrow(wide(a):band(wide(b))) end
local function bor(a, b) return narrow(wide(a):bor(wide(b))) end
local function bxor(a, b) return narrow(wide(a):bxor(wide(b))) end
local function shl(a, b) return narrow(wide(a):lshift(b)) end
local function shr(a, b) return narrow(wide(a):arshift(b < 63 and b or 63)) end
local function truth(condition) return condition and 1 or 0 end

-- Declaring fields. `key` may end in #2, #3 …: other fields that filters call the same.

local function field(key, name, kind, words)
    local abbreviation = PREFIX .. key:gsub("#%d+", "")
    local made
    if kind:find("int") then
        made = ProtoField[kind](abbreviation, name, base.DEC, words)
    else
        made = ProtoField[kind](abbreviation, name)
    end
    fields[key] = { field = made, kind = kind, name = name }
end

local function branch(key, name, is_message)
    field(key, name, "none")
    fields[key].message = is_message and name
end

local SET = { [0] = "not set", [1] = "set" }

-- An integer of `size` bytes of named bits, each { name, high, low, words, the value that it must have }. Wireshark's
-- masks are not exact beyond 32 bits: there each group is a number of its own. `spare` are the bits without a name.
local function named_bits(key, name, size, kind, groups, spare)
    local abbreviation = PREFIX .. key:gsub("#%d+", "")
    local small = size <= 4
    local show = kind == "uint64" and ProtoField.uint64 or ProtoField["uint" .. 8 * math.min(size, 4)]
    for _, group in ipairs(groups) do
        local called, high, low, words = group[1], group[2], group[3], group[4]
        words = words or (high == low and SET or nil)
        group.name, group.low, group.width, group.must = called, low, high - low + 1, group[5]
        local mask = small and (2 ^ group.width - 1) * 2 ^ low or nil
        group.field = show(abbreviation .. "." .. called:lower(), called, base.DEC, words, mask)
    end
    fields[key] = { field = show(abbreviation, name, base.HEX), kind = kind, name = name, groups = groups }
    if spare then
        fields[key].spare = { name = spare, field = show(abbreviation .. "." .. spare:lower(), spare, base.HEX) }
    end
end

local function titled(key, first, bits, names)
    titles[key] = { first = first, bits = bits, names = names }
end

local function title_of(key, this, message)
    local known, numbers = titles[key], {}
    for _, bit in ipairs(known.bits) do
        table.insert(numbers, string.format("%d", this[known.first][bit]))
    end
    return (known.names[message] or {})[table.concat(numbers, " ")]
end

-- The reader of one frame: the next byte stands `at`, what may be read ends before `stop`. Without a `tree` it only
-- finds out whether the frame can be read. What is done `after` a record may need the packet, `pinfo`.

local Reader = {}
Reader.__index = Reader

function Reader.new(tvb, tree, pinfo, size)
    local reader = { tvb = tvb, tree = tree, pinfo = pinfo, at = 0, stop = size or tvb:len(), messages = {} }
    return setmetatable(reader, Reader)
end

-- Returns a value as Wireshark takes it for a field of its type.
local function as_shown(entry, value)
    if type(value) == "number" and entry.kind == "uint64" then
        return UInt64.new(value)
    elseif type(value) == "number" and entry.kind == "int64" then
        return Int64.new(value)
    end
    return value
end

function Reader:show(key, start, size, value)
    if not self.tree then
        return nil
    end
    local entry = fields[key]
    if value == nil then
        return self.tree:add(entry.field, self.tvb(start, size))
    end
    return self.tree:add(entry.field, self.tvb(start, size), as_shown(entry, value))
end

-- Keeps the name of a message, if it is one, for the packet list, which has no room for very many.
function Reader:name(message)
    if message and #self.messages < 32 then
        table.insert(self.messages, message)
    end
end

function Reader:take(count)
    local start = self.at
    if count > self.stop - start then
        refuse("truncated", self.stop, "needs " .. tostring(count) .. " bytes, " .. self.stop - start .. " left")
    end
    self.at = start + count
    return start
end

-- Returns an unsigned integer: a number of up to four bytes, a UInt64 of more.
function Reader:whole(start, size, big)
    local range = self.tvb(start, size)
    if size <= 4 then
        return big and range:uint() or range:le_uint()
    end
    return big and range:uint64() or range:le_uint64()
end

function Reader:unsigned(key, size, big)
    local start = self:take(size)
    local value = self:whole(start, size, big)
    self:show(key, start, size, value)
    return plain(value)
end

function Reader:signed(key, size, big)
    local start = self:take(size)
    local value = self:whole(start, size, big)
    if type(value) == "number" then
        value = value < 2 ^ (8 * size - 1) and value or value - 2 ^ (8 * size)
    else
        local sign = 64 - 8 * size
        value = Int64.new(value:lower(), value:higher()):lshift(sign):arshift(sign)
    end
    self:show(key, start, size, value)
    return type(value) == "number" and value or narrow(value)
end

function Reader:float(key, size, big)
    local start = self:take(size)
    local range = self.tvb(start, size)
    self:show(key, start, size, big and range:float() or range:le_float())
end

-- Returns the value of each group of bits, by its name.
function Reader:bits(key, size, big)
    local start = self:take(size)
    local number, entry = self:whole(start, size, big), fields[key]
    local rest, values = number, {}
    for _, group in ipairs(entry.groups) do
        local value
        if type(number) == "number" then
            value = math.floor(number / 2 ^ group.low) % 2 ^ group.width
            rest = rest - value * 2 ^ group.low
        else
            value = number:rshift(group.low):lshift(64 - group.width):rshift(64 - group.width)
            rest = rest - value:lshift(group.low)
        end
        values[group.name] = plain(value)
        group.value = value
        if group.must and values[group.name] ~= group.must then
            refuse("unknown-id", start, group.name .. " has to be " .. tostring(group.must))
        end
    end
    if entry.spare then
        values[entry.spare.name] = plain(rest)
    end
    if self.tree then
        self:show_bits(entry, self.tvb(start, size), number, rest)
    end
    return values
end

function Reader:show_bits(entry, range, number, rest)
    local item = self.tree:add(entry.field, range, as_shown(entry, number))
    for _, group in ipairs(entry.groups) do
        -- What has a mask is taken out of the whole by Wireshark itself.
        item:add(group.field, range, as_shown(entry, type(number) == "number" and number or group.value))
    end
    if entry.spare and plain(rest) ~= 0 then
        local spare = item:add(entry.spare.field, range, as_shown(entry, rest))
        spare:add_proto_expert_info(reserved, "Reserved bits are set")
    end
end

-- Reads a variable-length integer: seven bits a byte, low ones first; a ninth byte has eight, and is the last.
function Reader:seven_bits(bits)
    local start, length, value, byte = self.at, 0, UInt64.new(0), nil
    repeat
        byte = self.tvb(self:take(1), 1):uint()
        local carried = length == 8 and byte or byte % 128
        value = value + UInt64.new(carried):lshift(7 * length)
        length = length + 1
    until byte < 128 or length == 9
    if bits < 64 and value:rshift(bits) ~= UInt64.new(0) then
        refuse("out-of-range", start, tostring(value) .. " does not fit in " .. bits .. " bits")
    end
    return bits <= 32 and value:tonumber() or value, length > 1 and byte == 0
end

local function remark(item, is_overlong)
    if item and is_overlong then
        item:add_proto_expert_info(overlong, "More bytes than the number needs")
    end
end

function Reader:varint(key, bits)
    local start = self.at
    local value, is_overlong = self:seven_bits(bits)
    remark(self:show(key, start, self.at - start, value), is_overlong)
    return plain(value)
end

-- Returns where, from 0, text is no UTF-8, nil if it is; and whether its end is only missing.
local function utf8_fault(text)
    local at = text:find("[\128-\255]")
    while at do
        local lead = text:byte(at)
        local more = lead >= 0xC2 and lead <= 0xDF and 1 or lead >= 0xE0 and lead <= 0xEF and 2
            or lead >= 0xF0 and lead <= 0xF4 and 3
        if not more then
            return at - 1, false
        end
        for place = 1, more do
            local byte, least, most = text:byte(at + place), 0x80, 0xBF
            if place == 1 then -- nothing spelled too long, no halves of surrogate pairs, nothing beyond U+10FFFF
                least = lead == 0xE0 and 0xA0 or lead == 0xF0 and 0x90 or least
                most = lead == 0xED and 0x9F or lead == 0xF4 and 0x8F or most
            end
            if not byte or byte < least or byte > most then
                return at - 1, byte == nil
            end
        end
        at = text:find("[\128-\255]", at + more + 1)
    end
    return nil
end

local function bytes_at(tvb, start, size)
    return size > 0 and tvb(start, size):raw() or ""
end

-- Shows bytes, or text that has to be UTF-8, else it is refused where it `began`.
function Reader:content(key, start, size, began)
    local value
    if fields[key].kind == "string" then
        value = bytes_at(self.tvb, start, size)
        if utf8_fault(value) then
            refuse("bad-text", began, "not UTF-8")
        end
        value = value:gsub("\0", "\226\144\128") -- ␀: Wireshark's text would end there
    end
    local item = self:show(key, start, size, value)
    if item and size == 0 then
        item:set_text(fields[key].name .. ": (empty)")
    end
    return item
end

-- Reads as many bytes as are announced; `least` to `most` of them, where there are bounds.
function Reader:counted(key, bits, least, most)
    local start = self.at
    local count, is_overlong = self:seven_bits(bits)
    local began = self.at
    count = plain(count)
    if most and count > most then
        refuse("too-long", start, tostring(count) .. " bytes, at most " .. most .. " fit")
    end
    if least and count < least then
        refuse("bad-value", start, tostring(count) .. " bytes, at least " .. least .. " belong")
    end
    if count > self.stop - began then
        refuse("truncated", start, tostring(count) .. " bytes announced, " .. self.stop - began .. " left")
    end
    self.at = began + count
    remark(self:show(key .. ".length", start, began - start, count), is_overlong)
    self:content(key, began, count, start)
end

local function announced(count, at)
    if count < 0 then
        refuse("bad-value", at, tostring(count) .. " is announced")
    end
    return count
end

function Reader:sized(key, count)
    local start = self:take(announced(count, self.at))
    self:content(key, start, count, start)
end

function Reader:remainder(key)
    local start = self:take(self.stop - self.at)
    self:content(key, start, self.stop - start, start)
end

-- Shows a text of a language with a grammar of its own as it is, and does not judge it.
function Reader:language(key)
    local start = self:take(self.stop - self.at)
    if self.tree then
        self.tree:add_packet_field(fields[key].field, self.tvb(start, self.stop - start), ENC_UTF_8)
    end
end

-- Reads up to `most` bytes and the NUL behind them.
function Reader:terminated(key, most)
    local start, left = self.at, self.stop - self.at
    local there = bytes_at(self.tvb, start, math.min(left, most + 1))
    local size = there:find("\0", 1, true)
    if not size then
        refuse(left > most and "too-long" or "truncated", start + math.min(left, most), "no NUL")
    end
    self.at = start + size
    local item = self:content(key, start, size - 1, start)
    if item then
        item:set_len(size)
    end
end

function Reader:zeros(key, count)
    local start = self:take(count)
    local wrong = bytes_at(self.tvb, start, count):find("[^\0]")
    if wrong then
        refuse("bad-value", start + wrong - 1, "padding that is not zero")
    elseif count > 0 then
        self:show(key, start, count)
    end
end

-- Reads a record as a branch of the tree.
function Reader:record(key, name)
    local outer, message, start = self.tree, self.message, self.at
    self.message = fields[key].message or message
    self:name(fields[key].message)
    self.tree = self:show(key, start, self.stop - start)
    local this = read[name](self)
    if outer then
        self.tree:set_len(self.at - start)
        local title = titles[key] and title_of(key, this, message)
        if title then
            self.tree:append_text(": " .. title)
        end
        if after[key] then
            after[key](self, this, start)
        end
    end
    self.tree, self.message = outer, message
    return this
end

-- Declares messages that their first byte tells apart, each { key, the bits that decide, what they are }: the first
-- that fits counts.
local function union(name, messages)
    local begun = {}
    for byte = 0, 255 do
        for _, message in ipairs(messages) do
            begun[byte] = begun[byte] or band(byte, message[3]) == message[4] and message or nil
        end
    end
    unions[name] = begun
end

function Reader:union(name)
    local byte = self.tvb(self:take(1), 1):uint()
    self.at = self.at - 1
    local message = unions[name][byte]
    if not message then
        refuse("unknown-id", self.at, string.format("no message begins with 0x%02x", byte))
    end
    return self:record(message[1], message[2])
end

local function room(count, most, at)
    if count == most then
        refuse("too-long", at, "more than " .. most .. " items")
    end
end

-- Reads messages up to the end, or as long as a byte begins one.
function Reader:items(name, most, to_end)
    local count = 0
    while self.at < self.stop and (to_end or unions[name][self.tvb(self.at, 1):uint()]) do
        room(count, most, self.at)
        self:union(name)
        count = count + 1
    end
end

-- Reads records as long as their field `first` has the bit `more`.
function Reader:chain(key, name, most, first, more)
    local count = 0
    repeat
        room(count, most, self.at)
        local this = self:record(key, name)
        count = count + 1
    until this[first][more] == 0
end

function Reader:array(count, most, item)
    if announced(count, self.at) > most then
        refuse("too-long", self.at, tostring(count) .. " items, at most " .. most .. " fit")
    end
    for _ = 1, count do
        item()
    end
end

function Reader:array_to_end(most, item)
    local count = 0
    while self.at < self.stop do
        room(count, most, self.at)
        item()
        count = count + 1
    end
end

-- Reads what has exactly `count` bytes, and is refused if it leaves some.
function Reader:within(count, content)
    local whole, start = self.stop, self.at
    self.stop = self:take(announced(count, start)) + count
    self.at = start
    content()
    if self.at < self.stop then
        refuse("trailing", self.at, self.stop - self.at .. " bytes over")
    end
    self.stop = whole
end
