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
    proto.experts = { refused, overlong, reserved }
    return proto
end

-- A layout by itself: a packet is a frame.
local function alone(name, title, layout)
    local proto = Proto(name, title)
    function proto.dissector(tvb, pinfo, tree)
        pinfo.cols.protocol = title
        pinfo.cols.info = dissect(layout, tvb, tree:add(proto, tvb()), pinfo)
        return tvb:len()
    end
    DissectorTable.get("udp.port"):add_for_decode_as(proto)
end
