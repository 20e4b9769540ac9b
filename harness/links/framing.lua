-- Links: how frames stand in streams. A framing is { dissect = shows the frames of a segment, and lets Wireshark put
-- those together that cross segments; begins = tells whether a segment begins with a whole frame that can be read }.

local framing_length = ProtoField.uint32(PREFIX .. "framing.length", "length of the frame")

-- Frames behind their length, an integer that does not count itself.
local function length_prefixed(size, big, most)
    local function length_at(tvb, at)
        local range = tvb(at, size)
        return big and range:uint() or range:le_uint()
    end

    local function whole_length(tvb, _, at)
        local length = length_at(tvb, at)
        -- Behind a length that cannot be, no frame is found again: what is left of the segment is taken.
        return length > most and tvb:len() - at or size + length
    end

    local function dissect_whole(tvb, tree, show)
        local length = length_at(tvb, 0)
        tree:add(framing_length, tvb(0, size), length)
        if length > most then
            show_refusal(tvb, tree, 0, "too-long", length .. " bytes are announced, at most " .. most .. " fit")
        elseif length == 0 then
            show(tvb, tree, false, 0) -- Wireshark has no buffers without bytes
        else
            show(tvb(size):tvb(), tree, cut_short(tvb))
        end
    end

    return {
        dissect = function(tvb, _, root, proto, show)
            dissect_tcp_pdus(tvb, root, size, whole_length, function(whole)
                dissect_whole(whole, root:add(proto, whole()), show)
                return whole:len()
            end)
        end,
        begins = function(tvb, is_frame)
            local length = tvb:len() > size and length_at(tvb, 0) or 0
            return length > 0 and length <= most and size + length <= tvb:len() and is_frame(tvb(size, length):tvb())
        end,
    }
end

-- Objects of JSON back to back, white space between them allowed.
local function json_stream(most)
    -- Returns where the object ends that begins at `start`, counted from 1; nil if its end has not come.
    local function end_of(text, start)
        local at, depth, quoted = start, 0, false
        while true do
            at = text:find(quoted and '["\\]' or '[{}"]', at)
            if not at then
                return nil
            end
            local found = text:sub(at, at)
            if found == '"' then
                quoted = not quoted
            elseif found == "\\" then
                at = at + 1 -- what it escapes is no end
            else
                depth = depth + (found == "{" and 1 or -1)
            end
            if depth == 0 then
                return at
            end
            at = at + 1
        end
    end

    local function dissect(tvb, pinfo, root, proto, show)
        local text, start = tvb:raw(), 1
        while true do
            start = text:find("[^ \t\r\n]", start)
            if not start then
                return
            end
            -- What begins no object is a frame of its own, and behind it no border can be found.
            local stop = text:sub(start, start) ~= "{" and #text or end_of(text, start)
            if not stop and #text - start < most then
                pinfo.desegment_offset = start - 1
                pinfo.desegment_len = DESEGMENT_ONE_MORE_SEGMENT
                return
            end
            local frame = tvb(start - 1, (stop or #text) - start + 1)
            show(frame:tvb(), root:add(proto, frame))
            start = (stop or #text) + 1
        end
    end

    return {
        dissect = dissect,
        begins = function(tvb, is_frame)
            local text = tvb:raw()
            local stop = text:sub(1, 1) == "{" and end_of(text, 1)
            return stop and is_frame(tvb(0, stop):tvb()) or false
        end,
    }
end

-- No framing: whatever comes at once is a frame.
local function whole()
    return {
        dissect = function(tvb, _, root, proto, show)
            show(tvb, root:add(proto, tvb()), cut_short(tvb))
        end,
        begins = function(tvb, is_frame)
            return is_frame(tvb)
        end,
    }
end

-- Registers a protocol whose frames stand in streams so (`framing`, nil where it has no streams), and are packets
-- elsewhere: by its usual ports, for "Decode As", and for whatever port where a packet or a segment begins with a frame
-- that can be read and is not damaged.
local function linked(proto, title, layout, framing, ports)
    local TCP = 2 -- among the port types

    local function is_frame(tvb)
        return is_readable(layout, tvb) and not (layout.damage and layout.damage(tvb))
    end

    function proto.dissector(tvb, pinfo, root)
        local said = {}
        local function show(frame, tree, is_cut, size)
            table.insert(said, dissect(layout, frame, tree, pinfo, is_cut, size))
        end
        if pinfo.port_type == TCP and framing then
            framing.dissect(tvb, pinfo, root, proto, show)
        else
            show(tvb, root:add(proto, tvb()), cut_short(tvb))
        end
        pinfo.cols.protocol = title
        if #said > 0 then
            pinfo.cols.info = table.concat(said, " | ")
        end
        return tvb:len()
    end

    local function register(list, begins)
        DissectorTable.get(list .. ".port"):add_for_decode_as(proto)
        for _, port in ipairs(ports) do
            DissectorTable.get(list .. ".port"):add(port, proto)
        end
        proto:register_heuristic(list, function(tvb, pinfo, root)
            if not begins(tvb) then
                return false
            end
            pinfo.conversation = proto
            proto.dissector(tvb, pinfo, root)
            return true
        end)
    end

    if framing then
        register("tcp", function(tvb)
            return framing.begins(tvb, is_frame)
        end)
        DissectorTable.get("tls.port"):add_for_decode_as(proto)
    end
    register("udp", is_frame)
end
