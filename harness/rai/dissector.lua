-- Envelopes of brokers: which operations there are. Nearly any datagram can be read as one: this tells whose it is.

local OPERATIONS = { D = true, L = true, C = true } -- data, listen, cancel

function layouts.envelope.damage(tvb)
    local operation = tvb(0, 1):uint()
    if not OPERATIONS[string.char(operation)] then
        return string.format("0x%02x is no operation", operation)
    elseif tvb(1, 2):uint() == 0 then
        return "a subject has at least one character"
    end
end
