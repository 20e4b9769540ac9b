-- Whole frames: read, and shown with what they are refused for. `layout.damage`, where a protocol has that, tells what is
-- wrong with all bytes of a frame, such as its checksum, or nil.

-- Reads a whole frame of a layout; returns nil, or what it is refused for.
local function fault_in(reader, layout)
    local fine, fault = pcall(function()
        if layout.most and reader.stop > layout.most then
            refuse("too-long", layout.most, reader.stop .. " bytes, at most " .. layout.most .. " fit")
        end
        layout.read(reader)
        if reader.at < reader.stop then
            refuse("trailing", reader.at, reader.stop - reader.at .. " bytes over")
        end
    end)
    if not fine and type(fault) ~= "table" then
        error(fault, 0) -- a mistake of this file, to be seen as it is
    end
    return not fine and fault or nil
end

local function show_refusal(tvb, tree, at, reason, detail)
    local item = tree:add(fields.reason.field, tvb(at, math.min(1, tvb:len() - at)), reason)
    item:add_proto_expert_info(refused, string.format("%s at byte %d: %s", reason, at, detail))
end

local function cut_short(tvb)
    return tvb:reported_len() > tvb:len()
end

-- Shows a frame in a `tree`, and returns what the packet list says about it. It has all bytes of the buffer, or `size`;
-- `is_cut` if the capture has not all of them.
local function dissect(layout, tvb, tree, pinfo, is_cut, size)
    local reader = Reader.new(tvb, tree, pinfo, size)
    local fault = fault_in(reader, layout)
    local said = table.concat(reader.messages, ", ")
    if not fault then
        local damage = layout.damage and not is_cut and layout.damage(tvb)
        if damage then
            tree:add_proto_expert_info(damaged, damage)
        end
        return said
    elseif fault.reason == "truncated" and is_cut then
        tree:append_text(" (cut short by the capture)")
        return said
    end
    show_refusal(tvb, tree, fault.at, fault.reason, fault.detail)
    return said .. (said == "" and "" or ", ") .. "refused: " .. fault.reason
end

local function is_readable(layout, tvb)
    return tvb:len() > 0 and not fault_in(Reader.new(tvb), layout)
end

-- What Wireshark is told: protocols by name, for "Decode As", `tshark -d` and the table of user DLTs.

local function protocol(name, title, more)
    local proto = Proto(name, title)
    local all = more
    for _, entry in pairs(fields) do
        table.insert(all, entry.field)
        for _, group in ipairs(entry.groups or {}) do
            table.insert(all, group.field)
        end
        if entry.spare then
            table.insert(all, entry.spare.field)
        end
    end
    proto.fields = all
    proto.experts = { refused, overlong, reserved, damaged }
    return proto
end

-- A layout by itself: a packet is a frame.
local function alone(name, title, layout)
    local proto = Proto(name, title)
    function proto.dissector(tvb, pinfo, tree)
        pinfo.cols.protocol = title
        pinfo.cols.info = dissect(layout, tvb, tree:add(proto, tvb()), pinfo, cut_short(tvb))
        return tvb:len()
    end
    DissectorTable.get("udp.port"):add_for_decode_as(proto)
end
