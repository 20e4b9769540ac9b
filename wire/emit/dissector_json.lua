-- Texts of JSON: read whole and strictly first (RFC 8259 and goldwire's own limits), then held against what a message
-- declares, member after member as they stand in the text.

local DEEPEST = 64 -- levels of arrays and objects
local LARGEST = "9223372036854775807"
local ESCAPES = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
local WORDS = { t = "true", f = "false", n = "null" }

-- The parser: every value is { start, stop, kind, value }; positions count from 0, as everywhere.

local Text = {}
Text.__index = Text

function Text:next(what)
    if self.at == #self.data then
        refuse("truncated", self.at, "the text ends before " .. what .. " does")
    end
    return self.data:sub(self.at + 1, self.at + 1)
end

function Text:unexpected(detail)
    refuse("bad-syntax", self.at, detail)
end

function Text:skip(pattern)
    local _, last = self.data:find("^" .. pattern, self.at + 1)
    self.at = last
end

function Text:white()
    self:skip("[ \t\r\n]*")
end

function Text:value(depth)
    local start, first = self.at, self:next("a value")
    local value, kind
    if first == "{" or first == "[" then
        if depth == DEEPEST then
            refuse("too-long", start, "more than " .. DEEPEST .. " levels")
        end
        kind = first == "{" and "object" or "array"
        value = self[kind](self, depth + 1)
    elseif first == '"' then
        kind, value = "text", self:string()
    elseif first:find("[-0-9]") then
        kind, value = self:number()
    elseif WORDS[first] then
        kind, value = self:word(WORDS[first])
    else
        self:unexpected("a value begins here")
    end
    return { start = start, stop = self.at, kind = kind, value = value }
end

-- Reads what follows a member or an item, and tells whether it is the bracket.
function Text:ends(bracket, what)
    self:white()
    local next = self:next(what)
    if next ~= "," and next ~= bracket then
        self:unexpected("a comma or " .. bracket .. " belongs here")
    end
    self.at = self.at + 1
    if next == bracket then
        return true
    end
    self:white()
    return false
end

function Text:object(depth)
    local members, known = {}, {}
    self.at = self.at + 1
    self:white()
    if self:next("an object") == "}" then
        self.at = self.at + 1
        return members
    end
    repeat
        local start = self.at
        if self:next("an object") ~= '"' then
            self:unexpected("the name of a member belongs here")
        end
        local name = self:string()
        local stop = self.at
        if known[name] then
            refuse("duplicate-name", start, "the name is there already")
        end
        self:white()
        if self:next("an object") ~= ":" then
            self:unexpected("a colon belongs here")
        end
        self.at = self.at + 1
        self:white()
        known[name] = true
        table.insert(members, { name = name, start = start, stop = stop, node = self:value(depth) })
    until self:ends("}", "an object")
    return members
end

function Text:array(depth)
    local items = {}
    self.at = self.at + 1
    self:white()
    if self:next("an array") == "]" then
        self.at = self.at + 1
        return items
    end
    repeat
        table.insert(items, self:value(depth))
    until self:ends("]", "an array")
    return items
end

function Text:word(word)
    for expected in word:gmatch(".") do
        if self:next(word) ~= expected then
            self:unexpected(word .. " is not complete")
        end
        self.at = self.at + 1
    end
    return word == "null" and "null" or "boolean", word == "true"
end

function Text:digits()
    if not self:next("a number"):find("%d") then
        self:unexpected("a digit belongs here")
    end
    self:skip("%d*")
end

function Text:number()
    local start, exact = self.at, true
    local negative = self:next("a number") == "-"
    self.at = negative and start + 1 or start
    local first = self.at
    if self:next("a number") == "0" then
        self.at = self.at + 1
        if self.data:find("^%d", self.at + 1) then
            self:unexpected("a number has no leading zeros")
        end
    else
        self:digits()
    end
    local digits = self.data:sub(first + 1, self.at)
    if self.data:find("^%.", self.at + 1) then
        exact, self.at = false, self.at + 1
        self:digits()
    end
    if self.data:find("^[eE]", self.at + 1) then
        exact, self.at = false, self.at + 1
        if self:next("a number"):find("[+-]") then
            self.at = self.at + 1
        end
        self:digits()
    end
    local spelled = self.data:sub(start + 1, self.at)
    if not exact then
        local real = tonumber(spelled)
        if real == math.huge or real == -math.huge then
            refuse("out-of-range", start, "a number beyond any double")
        end
        return "real", real
    end
    local most = negative and "9223372036854775808" or LARGEST
    if #digits > #most or #digits == #most and digits > most then
        refuse("out-of-range", start, "an integer that does not fit in 64 bits")
    end
    return "integer", Int64.new(spelled)
end

local function utf8_of(code)
    if code < 0x80 then
        return string.char(code)
    end
    local bytes, lead, most = "", 0xC0, 0x20
    repeat
        bytes = string.char(0x80 + code % 0x40) .. bytes
        code = math.floor(code / 0x40)
        local is_last = code < most
        if not is_last then
            lead, most = lead + most, most / 2
        end
    until is_last
    return string.char(lead + code) .. bytes
end

function Text:string()
    local pieces = {}
    self.at = self.at + 1
    while true do
        local start = self.at
        self:skip('[^"\\\0-\31]*')
        local run = self.data:sub(start + 1, self.at)
        local fault, is_cut = utf8_fault(run)
        if fault and is_cut and self.at == #self.data then
            refuse("truncated", self.at, "the text ends within a character")
        elseif fault then
            refuse("bad-text", start + fault, "not UTF-8")
        end
        table.insert(pieces, run)
        local next = self:next("a string")
        if next == '"' then
            self.at = self.at + 1
            return table.concat(pieces)
        elseif next == "\\" then
            table.insert(pieces, self:escape())
        else
            self:unexpected("control characters are escaped in a string")
        end
    end
end

function Text:code()
    self.at = self.at + 1
    for _ = 1, 4 do
        if not self:next("an escape"):find("%x") then
            self:unexpected("four hex digits belong here")
        end
        self.at = self.at + 1
    end
    return tonumber(self.data:sub(self.at - 3, self.at), 16)
end

-- Reads the second half of a surrogate pair; returns nil if something else stands there.
function Text:low_half()
    for expected in ("\\u"):gmatch(".") do
        if self:next("a surrogate pair") ~= expected then
            return nil
        end
        self.at = self.at + 1
    end
    self.at = self.at - 1
    local code = self:code()
    return code >= 0xDC00 and code < 0xE000 and code or nil
end

function Text:escape()
    local start = self.at
    self.at = self.at + 1
    local next = self:next("an escape")
    if next ~= "u" then
        if not ESCAPES[next] then
            self:unexpected("no escape")
        end
        self.at = self.at + 1
        return ESCAPES[next]
    end
    local code = self:code()
    if code == 0 then
        refuse("bad-text", start, "NUL has no place in a text")
    elseif code >= 0xD800 and code < 0xDC00 then
        local low = self:low_half()
        if low then
            return utf8_of(0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00)
        end
    end
    if code >= 0xD800 and code < 0xE000 then
        refuse("bad-text", start, "half of a surrogate pair")
    end
    return utf8_of(code)
end

local function parse(data)
    local text = setmetatable({ data = data, at = 0 }, Text)
    if data:sub(1, 3) == "\239\187\191" then
        refuse("bad-syntax", 0, "a byte order mark; JSON begins without one")
    end
    text:white()
    local node = text:value(0)
    text:white()
    if text.at < #data then
        refuse("trailing", text.at, #data - text.at .. " bytes behind the value")
    end
    return node
end

-- What a message declares: each of these returns { takes = the kinds of value, read = what shows one }.

local function take(place, reader, node)
    if not place.takes[node.kind] then
        refuse("wrong-type", node.start, node.kind .. " does not belong here")
    end
    place.read(reader, node)
end

-- Shows a value with what is in it, if there is anything.
local function below(reader, key, start, stop, content, value)
    local outer = reader.tree
    reader.tree = reader:show(key, start, stop - start, value)
    content()
    reader.tree = outer
end

local function scalar(kind, key, check)
    return {
        takes = { [kind] = true },
        read = function(reader, node)
            if check then
                check(node)
            end
            reader:show(key, node.start, node.stop - node.start, node.value)
        end,
    }
end

local function text(key, names)
    local known = names and {}
    for _, name in ipairs(names or {}) do
        known[name] = true
    end
    return scalar("text", key, known and function(node)
        if not known[node.value] then
            refuse("unknown-id", node.start, "there is " .. table.concat(names, ", "))
        end
    end)
end

local function integer(key, least, most)
    least, most = Int64.new(least), Int64.new(most)
    return scalar("integer", key, function(node)
        if node.value < least or node.value > most then
            refuse("out-of-range", node.start, "it is not from " .. tostring(least) .. " to " .. tostring(most))
        end
    end)
end

local function real(key, least)
    return scalar("real", key, least and function(node)
        if node.value < least then
            refuse("out-of-range", node.start, "it is less than " .. least)
        end
    end)
end

local function boolean(key)
    return scalar("boolean", key)
end

local function either(...)
    local by_kind = {}
    for _, place in ipairs({ ... }) do
        for kind in pairs(place.takes) do
            by_kind[kind] = place
        end
    end
    return {
        takes = by_kind,
        read = function(reader, node)
            by_kind[node.kind].read(reader, node)
        end,
    }
end

local function array(key, item)
    return {
        takes = { array = true },
        read = function(reader, node)
            below(reader, key, node.start, node.stop, function()
                for _, inner in ipairs(node.value) do
                    take(item, reader, inner)
                end
            end)
        end,
    }
end

-- Members of any names, all of one kind: each is shown by its name, with the value below it.
local function map(key, name_key, item)
    return {
        takes = { object = true },
        read = function(reader, node)
            below(reader, key, node.start, node.stop, function()
                for _, member in ipairs(node.value) do
                    below(reader, name_key, member.start, member.stop, function()
                        take(item, reader, member.node)
                    end, member.name)
                end
            end)
        end,
    }
end

-- Any value, whatever is in it.
local function anything(text_key, integer_key, real_key, boolean_key, null_key, array_key, object_key, name_key)
    local by_kind = {}
    local place = {
        takes = by_kind,
        read = function(reader, node)
            by_kind[node.kind].read(reader, node)
        end,
    }
    by_kind.text = text(text_key)
    by_kind.integer = integer(integer_key, "-9223372036854775808", LARGEST)
    by_kind.real = real(real_key)
    by_kind.boolean = boolean(boolean_key)
    by_kind.null = {
        read = function(reader, node)
            reader:show(null_key, node.start, node.stop - node.start)
        end,
    }
    by_kind.array = array(array_key, place)
    by_kind.object = map(object_key, name_key, place)
    return place
end

local function missing(node, name)
    refuse("missing-field", node.stop - 1, "the member " .. name .. " is missing")
end

local function optional(place)
    return { takes = place.takes, read = place.read, optional = true }
end

-- An object of exactly these members, each { name, place }.
local function object(key, members)
    local declared = {}
    for _, member in ipairs(members) do
        declared[member[1]] = member[2]
    end
    return {
        takes = { object = true },
        read = function(reader, node)
            local there = {}
            reader:name(fields[key].message)
            below(reader, key, node.start, node.stop, function()
                for _, member in ipairs(node.value) do
                    if not declared[member.name] then
                        refuse("unknown-field", member.start, "no member is called so")
                    end
                    take(declared[member.name], reader, member.node)
                    there[member.name] = true
                end
                for _, member in ipairs(members) do
                    if not there[member[1]] and not member[2].optional then
                        missing(node, member[1])
                    end
                end
            end)
        end,
    }
end

-- One of several objects, told apart by the texts of the members `by`: `choices` has a level for each of those.
local function one_of(by, choices)
    return {
        takes = { object = true },
        read = function(reader, node)
            local values, chosen = {}, choices
            for _, member in ipairs(node.value) do
                values[member.name] = member.node
            end
            for _, name in ipairs(by) do
                local value = values[name] or missing(node, name)
                if value.kind ~= "text" then
                    refuse("wrong-type", value.start, "text belongs here")
                end
                chosen = chosen[value.value] or refuse("unknown-id", value.start, "no message has this here")
            end
            chosen.read(reader, node)
        end,
    }
end

local function json(place)
    return function(reader)
        local node = parse(bytes_at(reader.tvb, reader:take(reader.stop), reader.stop))
        take(place, reader, node)
    end
end
