"""Extensions that a receiver does not know: by which of them it is not to act on a message."""

from wire.zenoh.values import (
    Declaration,
    Declare,
    DeclareEntity,
    DeclareFinal,
    DeclareKeyExpr,
    Extension,
    Interest,
    InterestFinal,
    NetworkMessage,
    Oam,
    Push,
    Request,
    Response,
    ResponseFinal,
    UndeclareEntity,
    UndeclareKeyExpr,
    unknown_mandatory,
)


def unintelligible(message: NetworkMessage) -> Extension | None:
    """Return a mandatory extension that no document names, if a message carries one: no receiver can act on it."""
    found = unknown_mandatory(NAMES[type(message)], message.extensions)
    if found is None and isinstance(message, Declare):
        found = unknown_mandatory(body_name(message.body), message.body.extensions)
    return found


NAMES: dict[type, str] = {
    Interest: "INTEREST",
    InterestFinal: "INTEREST_FINAL",
    Declare: "DECLARE",
    Push: "PUSH",
    Request: "REQUEST",
    Response: "RESPONSE",
    ResponseFinal: "RESPONSE_FINAL",
    Oam: "OAM",
}


def body_name(body: Declaration) -> str:
    """Return the document's name of a declaration."""
    match body:
        case DeclareKeyExpr():
            return "D_KEYEXPR"
        case UndeclareKeyExpr():
            return "U_KEYEXPR"
        case DeclareEntity():
            return f"D_{body.kind.name}"
        case UndeclareEntity():
            return f"U_{body.kind.name}"
        case DeclareFinal():
            return "D_FINAL"
