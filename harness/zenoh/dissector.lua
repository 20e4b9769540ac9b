-- Zenoh's fragments, put together: what a chain of them holds is shown below its last one.

local chains = {} -- by direction and reliability: what came of a chain so far { sn, data }
local whole = {} -- by packet and place: the bytes of the chain that ends there

local messages = {
    read = function(r)
        r:items("network_message", 65535, true)
    end,
}

-- Returns the sequence number and the bytes of a fragment, which was read already.
local function fragment_of(reader, this, start)
    local again = Reader.new(reader.tvb)
    again.at = start + 1
    local sn = again:seven_bits(32)
    if this.header.Z ~= 0 then
        again:chain("extensions", "extensions", 65535, "header", "Z")
    end
    return sn, bytes_at(reader.tvb, again.at, reader.at - again.at)
end

-- Keeps what a fragment adds to its chain. One that does not follow the one before begins a chain: whether the first
-- that a capture has is the first of its chain, nothing says.
local function gather(place, stream, more, sn, data)
    local chain = chains[stream]
    if not chain or chain.sn + 1 ~= sn then
        chain = { data = "" }
    end
    chain.sn, chain.data = sn, chain.data .. data
    chains[stream] = more and chain or nil
    whole[place] = not more and chain.data or nil
end

after["fragment"] = function(reader, this, start)
    local pinfo = reader.pinfo
    local place = table.concat({ pinfo.number, reader.tvb:offset() + start }, ":")
    if not pinfo.visited then -- Wireshark reads a packet again whenever it is looked at, in any order
        local ends = { tostring(pinfo.src), pinfo.src_port, tostring(pinfo.dst), pinfo.dst_port }
        local stream = table.concat(ends, " ") .. " " .. this.header.R
        gather(place, stream, this.header.M ~= 0, fragment_of(reader, this, start))
    end
    if whole[place] and whole[place] ~= "" then
        local tvb = ByteArray.new(whole[place], true):tvb("Fragments put together")
        local tree = reader.tree:add(tvb(), "Fragments put together: " .. tvb:len() .. " bytes")
        if is_readable(messages, tvb) then
            table.insert(reader.messages, dissect(messages, tvb, tree, pinfo))
        else -- nobody is accused: what came before the capture may be missing
            tree:append_text(", which cannot be read")
        end
    end
end
