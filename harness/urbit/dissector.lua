-- Urbit's checksums: whether a packet is damaged. No port is Urbit's, and many a datagram can be read as one of Ames:
-- the checksum tells whose it is.

local WORD = UInt64.new(0xFFFFFFFF)

local function word(number) -- the lowest 32 bits
    return number:band(WORD)
end

local function turned(number, bits)
    return word(number:lshift(bits)):bor(number:rshift(32 - bits))
end

local function mixed(number)
    return word(turned(word(number * UInt64.new(0xCC9E2D51)), 15) * UInt64.new(0x1B873593))
end

-- MurmurHash3 (x86_32) of the bytes of a buffer from `start` on.
local function murmur3(tvb, start, seed)
    local size, state = tvb:len() - start, UInt64.new(seed)
    local rest = size % 4
    for at = start, start + size - rest - 4, 4 do
        state = turned(state:bxor(mixed(UInt64.new(tvb(at, 4):le_uint()))), 13)
        state = word(state * UInt64.new(5) + UInt64.new(0xE6546B64))
    end
    if rest > 0 then
        state = state:bxor(mixed(UInt64.new(tvb(tvb:len() - rest, rest):le_uint())))
    end
    state = state:bxor(UInt64.new(size))
    state = word(state:bxor(state:rshift(16)) * UInt64.new(0x85EBCA6B))
    state = word(state:bxor(state:rshift(13)) * UInt64.new(0xC2B2AE35))
    return state:bxor(state:rshift(16))
end

-- The lowest 20 bits of a hash that is never zero: seeds are tried until one gives another.
local function checksum(tvb, start)
    for seed = 0xCAFEBABE, 0xCAFEBABE + 7 do
        local hashed = murmur3(tvb, start, seed)
        local folded = hashed:rshift(31):bxor(hashed:band(UInt64.new(0x7FFFFFFF)))
        if folded ~= UInt64.new(0) then
            return folded:band(UInt64.new(0xFFFFF)):tonumber()
        end
    end
    return 0x7FFF
end

-- It stands in the bits 11 to 30 of the header; whether there is an origin before what it is of, in the one above.
function layouts.packet.damage(tvb)
    local header = tvb(0, 4):le_uint()
    local is_relayed = header < 0x80000000
    local found, right = math.floor(header % 0x80000000 / 0x800), checksum(tvb, is_relayed and 10 or 4)
    if found ~= right then
        return string.format("the checksum is %d, and %d would be right", found, right)
    end
end
