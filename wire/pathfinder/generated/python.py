# mypy: disable-error-code="no-any-return"
"""Codecs of pathfinder: generated from wire/pathfinder by ``python -m wire.emit``. Do not edit."""

from typing import Any

from wire.json.runtime import (
    DOUBTS,
    Doubt,
    decide,
    read_json,
    spell_number,
    spell_text,
    spell_undecided,
    spell_within,
    strings_in,
    strings_within,
)
from wire.runtime import Codec


def check_hello_request(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["protocol-minimum-version"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["protocol-maximum-version"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return 8


def check_hello_complete(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["protocol-version"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return 6


def check_hello_fail(value: Any) -> int:
    strings = 5
    size = 3
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "fail-reason" in value:
        v = value["fail-reason"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def check_subscribe_request(value: Any) -> int:
    strings = 6
    size = 4
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["subscription-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "filter" in value:
        v = value["filter"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def check_subscribe_accept(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return 5


def check_service_props_item(value: Any) -> int:
    if type(value) is not list:
        raise Doubt
    strings = 0
    for each in value:
        if type(each) is str:
            strings += 1
        elif type(each) is int:
            if not -0x8000000000000000 <= each <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
    return strings


def check_service_props(value: Any) -> int:
    if type(value) is not dict:
        raise Doubt
    strings = len(value)
    for each in value.values():
        strings += check_service_props_item(each)
    return strings


def check_subscribe_notify(value: Any) -> int:
    strings = 12
    size = 9
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["generation"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-props"]
    strings += check_service_props(v)
    v = value["ttl"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "orphan-since" in value:
        v = value["orphan-since"]
        if type(v) not in (int, float) or type(v) is int and not -0x8000000000000000 <= v <= 0x7fffffffffffffff or not v >= 0:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def check_subscribe_notify_disappeared(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 5:
        raise Doubt
    return 8


CHECK_MESSAGE_SUBSCRIBE_NOTIFY_BY: dict[Any, Any] = {
    "appeared": check_subscribe_notify,
    "modified": check_subscribe_notify,
    "disappeared": check_subscribe_notify_disappeared,
}


def check_message_subscribe_notify(value: Any) -> int:
    return CHECK_MESSAGE_SUBSCRIBE_NOTIFY_BY[value["match-type"]](value)

check_subscribe_complete = check_subscribe_accept

check_subscribe_fail = check_hello_fail


def check_unsubscribe_request(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["subscription-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return 6

check_unsubscribe_complete = check_subscribe_complete

check_unsubscribe_fail = check_subscribe_fail

check_subscriptions_request = check_unsubscribe_complete

check_subscriptions_accept = check_subscriptions_request


def check_subscriptions_notify(value: Any) -> int:
    strings = 7
    size = 5
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["subscription-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "filter" in value:
        v = value["filter"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings

check_subscriptions_complete = check_subscriptions_accept

check_subscriptions_fail = check_unsubscribe_fail


def check_services_request(value: Any) -> int:
    strings = 5
    size = 3
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "filter" in value:
        v = value["filter"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings

check_services_accept = check_subscriptions_complete


def check_services_notify(value: Any) -> int:
    strings = 10
    size = 8
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["generation"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-props"]
    strings += check_service_props(v)
    v = value["ttl"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "orphan-since" in value:
        v = value["orphan-since"]
        if type(v) not in (int, float) or type(v) is int and not -0x8000000000000000 <= v <= 0x7fffffffffffffff or not v >= 0:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings

check_services_complete = check_services_accept

check_services_fail = check_subscriptions_fail


def check_publish_request(value: Any) -> int:
    strings = 9
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["generation"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-props"]
    strings += check_service_props(v)
    v = value["ttl"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 7:
        raise Doubt
    return strings

check_publish_complete = check_services_complete

check_publish_fail = check_services_fail


def check_unpublish_request(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return 6

check_unpublish_complete = check_publish_complete

check_unpublish_fail = check_publish_fail

check_clients_request = check_unpublish_complete

check_clients_accept = check_clients_request


def check_clients_notify(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-addr"]
    if type(v) is not str:
        raise Doubt
    v = value["time"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return 9

check_clients_complete = check_clients_accept

check_clients_fail = check_unpublish_fail

check_ping_request = check_clients_complete

check_ping_complete = check_ping_request

check_ping_fail = check_clients_fail


CHECK_MESSAGE_BY: dict[Any, Any] = {
    ("hello", "request"): check_hello_request,
    ("hello", "complete"): check_hello_complete,
    ("hello", "fail"): check_hello_fail,
    ("subscribe", "request"): check_subscribe_request,
    ("subscribe", "accept"): check_subscribe_accept,
    ("subscribe", "notify"): check_message_subscribe_notify,
    ("subscribe", "complete"): check_subscribe_complete,
    ("subscribe", "fail"): check_subscribe_fail,
    ("unsubscribe", "request"): check_unsubscribe_request,
    ("unsubscribe", "complete"): check_unsubscribe_complete,
    ("unsubscribe", "fail"): check_unsubscribe_fail,
    ("subscriptions", "request"): check_subscriptions_request,
    ("subscriptions", "accept"): check_subscriptions_accept,
    ("subscriptions", "notify"): check_subscriptions_notify,
    ("subscriptions", "complete"): check_subscriptions_complete,
    ("subscriptions", "fail"): check_subscriptions_fail,
    ("services", "request"): check_services_request,
    ("services", "accept"): check_services_accept,
    ("services", "notify"): check_services_notify,
    ("services", "complete"): check_services_complete,
    ("services", "fail"): check_services_fail,
    ("publish", "request"): check_publish_request,
    ("publish", "complete"): check_publish_complete,
    ("publish", "fail"): check_publish_fail,
    ("unpublish", "request"): check_unpublish_request,
    ("unpublish", "complete"): check_unpublish_complete,
    ("unpublish", "fail"): check_unpublish_fail,
    ("clients", "request"): check_clients_request,
    ("clients", "accept"): check_clients_accept,
    ("clients", "notify"): check_clients_notify,
    ("clients", "complete"): check_clients_complete,
    ("clients", "fail"): check_clients_fail,
    ("ping", "request"): check_ping_request,
    ("ping", "complete"): check_ping_complete,
    ("ping", "fail"): check_ping_fail,
}


def check_message(value: Any) -> int:
    return CHECK_MESSAGE_BY[value["ta-cmd"], value["msg-type"]](value)


def write_hello_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    protocol_minimum_version = value["protocol-minimum-version"]
    if type(protocol_minimum_version) is not int or not 0 <= protocol_minimum_version <= 0x7fffffffffffffff:
        raise Doubt
    protocol_maximum_version = value["protocol-maximum-version"]
    if type(protocol_maximum_version) is not int or not 0 <= protocol_maximum_version <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return (
        '{"ta-cmd":"hello"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"client-id":{client_id}'
        f',"protocol-minimum-version":{protocol_minimum_version}'
        f',"protocol-maximum-version":{protocol_maximum_version}'
        '}'
    )


def write_hello_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    protocol_version = value["protocol-version"]
    if type(protocol_version) is not int or not 0 <= protocol_version <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return (
        '{"ta-cmd":"hello"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        f',"protocol-version":{protocol_version}'
        '}'
    )


def write_hello_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"hello"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_subscribe_request(value: Any) -> str:
    size = 4
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    subscription_id = value["subscription-id"]
    if type(subscription_id) is not int or not 0 <= subscription_id <= 0x7fffffffffffffff:
        raise Doubt
    filter = ''
    if "filter" in value:
        filter = value["filter"]
        if type(filter) is not str or "\0" in filter:
            raise Doubt
        filter = f',"filter":{spell_text(filter)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"subscription-id":{subscription_id}'
        f'{filter}'
        '}'
    )


def write_subscribe_accept(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_service_props_item(value: Any) -> str:
    if type(value) is not list:
        raise Doubt
    pieces = []
    for each in value:
        if type(each) is str:
            if "\0" in each:
                raise Doubt
            spelled = f'{spell_text(each)}'
        elif type(each) is int:
            if not -0x8000000000000000 <= each <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{each}'
        else:
            raise Doubt
        pieces.append(f'{spelled}')
    return '[' + ','.join(pieces) + ']'


def write_service_props(value: Any) -> str:
    if type(value) is not dict:
        raise Doubt
    pieces = []
    for name, each in value.items():
        if type(name) is not str or "\0" in name:
            raise Doubt
        pieces.append(f'{spell_text(name)}:{write_service_props_item(each)}')
    return '{' + ','.join(pieces) + '}'


def write_subscribe_notify(value: Any) -> str:
    size = 9
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    match_type = value["match-type"]
    if type(match_type) is not str or match_type not in ("appeared", "modified",):
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    generation = value["generation"]
    if type(generation) is not int or not 0 <= generation <= 0x7fffffffffffffff:
        raise Doubt
    service_props = value["service-props"]
    ttl = value["ttl"]
    if type(ttl) is not int or not 0 <= ttl <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    orphan_since = ''
    if "orphan-since" in value:
        orphan_since = value["orphan-since"]
        if type(orphan_since) not in (int, float) or not orphan_since >= 0:
            raise Doubt
        orphan_since = f',"orphan-since":{spell_number(orphan_since)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"match-type":{spell_text(match_type)}'
        f',"service-id":{service_id}'
        f',"generation":{generation}'
        f',"service-props":{write_service_props(service_props)}'
        f',"ttl":{ttl}'
        f',"client-id":{client_id}'
        f'{orphan_since}'
        '}'
    )


def write_subscribe_notify_disappeared(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 5:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        ',"match-type":"disappeared"'
        f',"service-id":{service_id}'
        '}'
    )


WRITE_MESSAGE_SUBSCRIBE_NOTIFY_BY: dict[Any, Any] = {
    "appeared": write_subscribe_notify,
    "modified": write_subscribe_notify,
    "disappeared": write_subscribe_notify_disappeared,
}


def write_message_subscribe_notify(value: Any) -> str:
    return WRITE_MESSAGE_SUBSCRIBE_NOTIFY_BY[value["match-type"]](value)


def write_subscribe_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_subscribe_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_unsubscribe_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    subscription_id = value["subscription-id"]
    if type(subscription_id) is not int or not 0 <= subscription_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return (
        '{"ta-cmd":"unsubscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"subscription-id":{subscription_id}'
        '}'
    )


def write_unsubscribe_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"unsubscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_unsubscribe_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"unsubscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_subscriptions_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        '}'
    )


def write_subscriptions_accept(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_subscriptions_notify(value: Any) -> str:
    size = 5
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    subscription_id = value["subscription-id"]
    if type(subscription_id) is not int or not 0 <= subscription_id <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    filter = ''
    if "filter" in value:
        filter = value["filter"]
        if type(filter) is not str or "\0" in filter:
            raise Doubt
        filter = f',"filter":{spell_text(filter)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"subscription-id":{subscription_id}'
        f',"client-id":{client_id}'
        f'{filter}'
        '}'
    )


def write_subscriptions_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_subscriptions_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_services_request(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    filter = ''
    if "filter" in value:
        filter = value["filter"]
        if type(filter) is not str or "\0" in filter:
            raise Doubt
        filter = f',"filter":{spell_text(filter)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f'{filter}'
        '}'
    )


def write_services_accept(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_services_notify(value: Any) -> str:
    size = 8
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    generation = value["generation"]
    if type(generation) is not int or not 0 <= generation <= 0x7fffffffffffffff:
        raise Doubt
    service_props = value["service-props"]
    ttl = value["ttl"]
    if type(ttl) is not int or not 0 <= ttl <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    orphan_since = ''
    if "orphan-since" in value:
        orphan_since = value["orphan-since"]
        if type(orphan_since) not in (int, float) or not orphan_since >= 0:
            raise Doubt
        orphan_since = f',"orphan-since":{spell_number(orphan_since)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"service-id":{service_id}'
        f',"generation":{generation}'
        f',"service-props":{write_service_props(service_props)}'
        f',"ttl":{ttl}'
        f',"client-id":{client_id}'
        f'{orphan_since}'
        '}'
    )


def write_services_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_services_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_publish_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    generation = value["generation"]
    if type(generation) is not int or not 0 <= generation <= 0x7fffffffffffffff:
        raise Doubt
    service_props = value["service-props"]
    ttl = value["ttl"]
    if type(ttl) is not int or not 0 <= ttl <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 7:
        raise Doubt
    return (
        '{"ta-cmd":"publish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"service-id":{service_id}'
        f',"generation":{generation}'
        f',"service-props":{write_service_props(service_props)}'
        f',"ttl":{ttl}'
        '}'
    )


def write_publish_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"publish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_publish_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"publish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_unpublish_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return (
        '{"ta-cmd":"unpublish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"service-id":{service_id}'
        '}'
    )


def write_unpublish_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"unpublish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_unpublish_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"unpublish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_clients_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        '}'
    )


def write_clients_accept(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_clients_notify(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    client_addr = value["client-addr"]
    if type(client_addr) is not str or "\0" in client_addr:
        raise Doubt
    time = value["time"]
    if type(time) is not int or not 0 <= time <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"client-id":{client_id}'
        f',"client-addr":{spell_text(client_addr)}'
        f',"time":{time}'
        '}'
    )


def write_clients_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_clients_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_ping_request(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"ping"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        '}'
    )


def write_ping_complete(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"ping"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_ping_fail(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"ping"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


WRITE_MESSAGE_BY: dict[Any, Any] = {
    ("hello", "request"): write_hello_request,
    ("hello", "complete"): write_hello_complete,
    ("hello", "fail"): write_hello_fail,
    ("subscribe", "request"): write_subscribe_request,
    ("subscribe", "accept"): write_subscribe_accept,
    ("subscribe", "notify"): write_message_subscribe_notify,
    ("subscribe", "complete"): write_subscribe_complete,
    ("subscribe", "fail"): write_subscribe_fail,
    ("unsubscribe", "request"): write_unsubscribe_request,
    ("unsubscribe", "complete"): write_unsubscribe_complete,
    ("unsubscribe", "fail"): write_unsubscribe_fail,
    ("subscriptions", "request"): write_subscriptions_request,
    ("subscriptions", "accept"): write_subscriptions_accept,
    ("subscriptions", "notify"): write_subscriptions_notify,
    ("subscriptions", "complete"): write_subscriptions_complete,
    ("subscriptions", "fail"): write_subscriptions_fail,
    ("services", "request"): write_services_request,
    ("services", "accept"): write_services_accept,
    ("services", "notify"): write_services_notify,
    ("services", "complete"): write_services_complete,
    ("services", "fail"): write_services_fail,
    ("publish", "request"): write_publish_request,
    ("publish", "complete"): write_publish_complete,
    ("publish", "fail"): write_publish_fail,
    ("unpublish", "request"): write_unpublish_request,
    ("unpublish", "complete"): write_unpublish_complete,
    ("unpublish", "fail"): write_unpublish_fail,
    ("clients", "request"): write_clients_request,
    ("clients", "accept"): write_clients_accept,
    ("clients", "notify"): write_clients_notify,
    ("clients", "complete"): write_clients_complete,
    ("clients", "fail"): write_clients_fail,
    ("ping", "request"): write_ping_request,
    ("ping", "complete"): write_ping_complete,
    ("ping", "fail"): write_ping_fail,
}


def write_message(value: Any) -> str:
    return WRITE_MESSAGE_BY[value["ta-cmd"], value["msg-type"]](value)


def decode_message(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``pathfinder/message``."""
    try:
        if len(data) <= 262144:
            value = read_json(data)
            if check_message(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("pathfinder/message", data)


def encode_message(value: Any) -> bytes:
    """Encode one ``pathfinder/message``."""
    try:
        out = write_message(value).encode()
        if len(out) <= 262144:
            return out
    except DOUBTS:
        pass
    return spell_undecided("pathfinder/message", value)


def check_hello_request_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["protocol-minimum-version"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["protocol-maximum-version"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return 8


def check_hello_complete_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["protocol-version"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return 6


def check_hello_fail_2(value: Any) -> int:
    strings = 5
    size = 3
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "fail-reason" in value:
        v = value["fail-reason"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def check_subscribe_request_2(value: Any) -> int:
    strings = 6
    size = 4
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["subscription-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "filter" in value:
        v = value["filter"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def check_subscribe_accept_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return 5


def check_service_props_item_2(value: Any) -> int:
    if type(value) is not list:
        raise Doubt
    strings = 0
    for each in value:
        if type(each) is str:
            strings += 1
        elif type(each) is int:
            if not -0x8000000000000000 <= each <= 0x7fffffffffffffff:
                raise Doubt
        else:
            raise Doubt
    return strings


def check_service_props_2(value: Any) -> int:
    if type(value) is not dict:
        raise Doubt
    strings = len(value)
    for each in value.values():
        strings += check_service_props_item_2(each)
    return strings


def check_subscribe_notify_2(value: Any) -> int:
    strings = 12
    size = 9
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["generation"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-props"]
    strings += check_service_props_2(v)
    v = value["ttl"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "orphan-since" in value:
        v = value["orphan-since"]
        if type(v) not in (int, float) or type(v) is int and not -0x8000000000000000 <= v <= 0x7fffffffffffffff or not v >= 0:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings


def check_subscribe_notify_disappeared_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 5:
        raise Doubt
    return 8


CHECK_DEPLOYED_MESSAGE_SUBSCRIBE_NOTIFY_BY: dict[Any, Any] = {
    "appeared": check_subscribe_notify_2,
    "modified": check_subscribe_notify_2,
    "disappeared": check_subscribe_notify_disappeared_2,
}


def check_deployed_message_subscribe_notify(value: Any) -> int:
    return CHECK_DEPLOYED_MESSAGE_SUBSCRIBE_NOTIFY_BY[value["match-type"]](value)

check_subscribe_complete_2 = check_subscribe_accept_2

check_subscribe_fail_2 = check_hello_fail_2


def check_unsubscribe_request_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["subscription-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return 6

check_unsubscribe_complete_2 = check_subscribe_complete_2

check_unsubscribe_fail_2 = check_subscribe_fail_2

check_subscriptions_request_2 = check_unsubscribe_complete_2

check_subscriptions_accept_2 = check_subscriptions_request_2


def check_subscriptions_notify_2(value: Any) -> int:
    strings = 7
    size = 5
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["subscription-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "filter" in value:
        v = value["filter"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings

check_subscriptions_complete_2 = check_subscriptions_accept_2

check_subscriptions_fail_2 = check_unsubscribe_fail_2


def check_services_request_2(value: Any) -> int:
    strings = 5
    size = 3
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "filter" in value:
        v = value["filter"]
        if type(v) is not str:
            raise Doubt
        strings += 2
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings

check_services_accept_2 = check_subscriptions_complete_2


def check_services_notify_2(value: Any) -> int:
    strings = 10
    size = 8
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["generation"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-props"]
    strings += check_service_props_2(v)
    v = value["ttl"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if "orphan-since" in value:
        v = value["orphan-since"]
        if type(v) not in (int, float) or type(v) is int and not -0x8000000000000000 <= v <= 0x7fffffffffffffff or not v >= 0:
            raise Doubt
        strings += 1
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return strings

check_services_complete_2 = check_services_accept_2

check_services_fail_2 = check_subscriptions_fail_2


def check_publish_request_2(value: Any) -> int:
    strings = 9
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["generation"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-props"]
    strings += check_service_props_2(v)
    v = value["ttl"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 7:
        raise Doubt
    return strings

check_publish_complete_2 = check_services_complete_2

check_publish_fail_2 = check_services_fail_2


def check_unpublish_request_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["service-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return 6

check_unpublish_complete_2 = check_publish_complete_2

check_unpublish_fail_2 = check_publish_fail_2

check_clients_request_2 = check_unpublish_complete_2

check_clients_accept_2 = check_clients_request_2


def check_clients_notify_2(value: Any) -> int:
    v = value["ta-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-id"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    v = value["client-address"]
    if type(v) is not str:
        raise Doubt
    v = value["time"]
    if type(v) is not int or not 0 <= v <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return 9

check_clients_complete_2 = check_clients_accept_2

check_clients_fail_2 = check_unpublish_fail_2

check_ping_request_2 = check_clients_complete_2

check_ping_complete_2 = check_ping_request_2

check_ping_fail_2 = check_clients_fail_2


CHECK_DEPLOYED_MESSAGE_BY: dict[Any, Any] = {
    ("hello", "request"): check_hello_request_2,
    ("hello", "complete"): check_hello_complete_2,
    ("hello", "fail"): check_hello_fail_2,
    ("subscribe", "request"): check_subscribe_request_2,
    ("subscribe", "accept"): check_subscribe_accept_2,
    ("subscribe", "notify"): check_deployed_message_subscribe_notify,
    ("subscribe", "complete"): check_subscribe_complete_2,
    ("subscribe", "fail"): check_subscribe_fail_2,
    ("unsubscribe", "request"): check_unsubscribe_request_2,
    ("unsubscribe", "complete"): check_unsubscribe_complete_2,
    ("unsubscribe", "fail"): check_unsubscribe_fail_2,
    ("subscriptions", "request"): check_subscriptions_request_2,
    ("subscriptions", "accept"): check_subscriptions_accept_2,
    ("subscriptions", "notify"): check_subscriptions_notify_2,
    ("subscriptions", "complete"): check_subscriptions_complete_2,
    ("subscriptions", "fail"): check_subscriptions_fail_2,
    ("services", "request"): check_services_request_2,
    ("services", "accept"): check_services_accept_2,
    ("services", "notify"): check_services_notify_2,
    ("services", "complete"): check_services_complete_2,
    ("services", "fail"): check_services_fail_2,
    ("publish", "request"): check_publish_request_2,
    ("publish", "complete"): check_publish_complete_2,
    ("publish", "fail"): check_publish_fail_2,
    ("unpublish", "request"): check_unpublish_request_2,
    ("unpublish", "complete"): check_unpublish_complete_2,
    ("unpublish", "fail"): check_unpublish_fail_2,
    ("clients", "request"): check_clients_request_2,
    ("clients", "accept"): check_clients_accept_2,
    ("clients", "notify"): check_clients_notify_2,
    ("clients", "complete"): check_clients_complete_2,
    ("clients", "fail"): check_clients_fail_2,
    ("ping", "request"): check_ping_request_2,
    ("ping", "complete"): check_ping_complete_2,
    ("ping", "fail"): check_ping_fail_2,
}


def check_deployed_message(value: Any) -> int:
    return CHECK_DEPLOYED_MESSAGE_BY[value["ta-cmd"], value["msg-type"]](value)


def write_hello_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    protocol_minimum_version = value["protocol-minimum-version"]
    if type(protocol_minimum_version) is not int or not 0 <= protocol_minimum_version <= 0x7fffffffffffffff:
        raise Doubt
    protocol_maximum_version = value["protocol-maximum-version"]
    if type(protocol_maximum_version) is not int or not 0 <= protocol_maximum_version <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return (
        '{"ta-cmd":"hello"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"client-id":{client_id}'
        f',"protocol-minimum-version":{protocol_minimum_version}'
        f',"protocol-maximum-version":{protocol_maximum_version}'
        '}'
    )


def write_hello_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    protocol_version = value["protocol-version"]
    if type(protocol_version) is not int or not 0 <= protocol_version <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return (
        '{"ta-cmd":"hello"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        f',"protocol-version":{protocol_version}'
        '}'
    )


def write_hello_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"hello"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_subscribe_request_2(value: Any) -> str:
    size = 4
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    subscription_id = value["subscription-id"]
    if type(subscription_id) is not int or not 0 <= subscription_id <= 0x7fffffffffffffff:
        raise Doubt
    filter = ''
    if "filter" in value:
        filter = value["filter"]
        if type(filter) is not str or "\0" in filter:
            raise Doubt
        filter = f',"filter":{spell_text(filter)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"subscription-id":{subscription_id}'
        f'{filter}'
        '}'
    )


def write_subscribe_accept_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_service_props_item_2(value: Any) -> str:
    if type(value) is not list:
        raise Doubt
    pieces = []
    for each in value:
        if type(each) is str:
            if "\0" in each:
                raise Doubt
            spelled = f'{spell_text(each)}'
        elif type(each) is int:
            if not -0x8000000000000000 <= each <= 0x7fffffffffffffff:
                raise Doubt
            spelled = f'{each}'
        else:
            raise Doubt
        pieces.append(f'{spelled}')
    return '[' + ','.join(pieces) + ']'


def write_service_props_2(value: Any) -> str:
    if type(value) is not dict:
        raise Doubt
    pieces = []
    for name, each in value.items():
        if type(name) is not str or "\0" in name:
            raise Doubt
        pieces.append(f'{spell_text(name)}:{write_service_props_item_2(each)}')
    return '{' + ','.join(pieces) + '}'


def write_subscribe_notify_2(value: Any) -> str:
    size = 9
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    match_type = value["match-type"]
    if type(match_type) is not str or match_type not in ("appeared", "modified",):
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    generation = value["generation"]
    if type(generation) is not int or not 0 <= generation <= 0x7fffffffffffffff:
        raise Doubt
    service_props = value["service-props"]
    ttl = value["ttl"]
    if type(ttl) is not int or not 0 <= ttl <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    orphan_since = ''
    if "orphan-since" in value:
        orphan_since = value["orphan-since"]
        if type(orphan_since) not in (int, float) or not orphan_since >= 0:
            raise Doubt
        orphan_since = f',"orphan-since":{spell_number(orphan_since)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"match-type":{spell_text(match_type)}'
        f',"service-id":{service_id}'
        f',"generation":{generation}'
        f',"service-props":{write_service_props_2(service_props)}'
        f',"ttl":{ttl}'
        f',"client-id":{client_id}'
        f'{orphan_since}'
        '}'
    )


def write_subscribe_notify_disappeared_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 5:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        ',"match-type":"disappeared"'
        f',"service-id":{service_id}'
        '}'
    )


WRITE_DEPLOYED_MESSAGE_SUBSCRIBE_NOTIFY_BY: dict[Any, Any] = {
    "appeared": write_subscribe_notify_2,
    "modified": write_subscribe_notify_2,
    "disappeared": write_subscribe_notify_disappeared_2,
}


def write_deployed_message_subscribe_notify(value: Any) -> str:
    return WRITE_DEPLOYED_MESSAGE_SUBSCRIBE_NOTIFY_BY[value["match-type"]](value)


def write_subscribe_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_subscribe_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_unsubscribe_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    subscription_id = value["subscription-id"]
    if type(subscription_id) is not int or not 0 <= subscription_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return (
        '{"ta-cmd":"unsubscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"subscription-id":{subscription_id}'
        '}'
    )


def write_unsubscribe_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"unsubscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_unsubscribe_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"unsubscribe"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_subscriptions_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        '}'
    )


def write_subscriptions_accept_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_subscriptions_notify_2(value: Any) -> str:
    size = 5
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    subscription_id = value["subscription-id"]
    if type(subscription_id) is not int or not 0 <= subscription_id <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    filter = ''
    if "filter" in value:
        filter = value["filter"]
        if type(filter) is not str or "\0" in filter:
            raise Doubt
        filter = f',"filter":{spell_text(filter)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"subscription-id":{subscription_id}'
        f',"client-id":{client_id}'
        f'{filter}'
        '}'
    )


def write_subscriptions_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_subscriptions_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"subscriptions"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_services_request_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    filter = ''
    if "filter" in value:
        filter = value["filter"]
        if type(filter) is not str or "\0" in filter:
            raise Doubt
        filter = f',"filter":{spell_text(filter)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f'{filter}'
        '}'
    )


def write_services_accept_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_services_notify_2(value: Any) -> str:
    size = 8
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    generation = value["generation"]
    if type(generation) is not int or not 0 <= generation <= 0x7fffffffffffffff:
        raise Doubt
    service_props = value["service-props"]
    ttl = value["ttl"]
    if type(ttl) is not int or not 0 <= ttl <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    orphan_since = ''
    if "orphan-since" in value:
        orphan_since = value["orphan-since"]
        if type(orphan_since) not in (int, float) or not orphan_since >= 0:
            raise Doubt
        orphan_since = f',"orphan-since":{spell_number(orphan_since)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"service-id":{service_id}'
        f',"generation":{generation}'
        f',"service-props":{write_service_props_2(service_props)}'
        f',"ttl":{ttl}'
        f',"client-id":{client_id}'
        f'{orphan_since}'
        '}'
    )


def write_services_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_services_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"services"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_publish_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    generation = value["generation"]
    if type(generation) is not int or not 0 <= generation <= 0x7fffffffffffffff:
        raise Doubt
    service_props = value["service-props"]
    ttl = value["ttl"]
    if type(ttl) is not int or not 0 <= ttl <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 7:
        raise Doubt
    return (
        '{"ta-cmd":"publish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"service-id":{service_id}'
        f',"generation":{generation}'
        f',"service-props":{write_service_props_2(service_props)}'
        f',"ttl":{ttl}'
        '}'
    )


def write_publish_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"publish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_publish_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"publish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_unpublish_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    service_id = value["service-id"]
    if type(service_id) is not int or not 0 <= service_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 4:
        raise Doubt
    return (
        '{"ta-cmd":"unpublish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        f',"service-id":{service_id}'
        '}'
    )


def write_unpublish_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"unpublish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_unpublish_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"unpublish"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_clients_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        '}'
    )


def write_clients_accept_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"accept"'
        '}'
    )


def write_clients_notify_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    client_id = value["client-id"]
    if type(client_id) is not int or not 0 <= client_id <= 0x7fffffffffffffff:
        raise Doubt
    client_address = value["client-address"]
    if type(client_address) is not str or "\0" in client_address:
        raise Doubt
    time = value["time"]
    if type(time) is not int or not 0 <= time <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 6:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"notify"'
        f',"client-id":{client_id}'
        f',"client-address":{spell_text(client_address)}'
        f',"time":{time}'
        '}'
    )


def write_clients_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_clients_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"clients"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


def write_ping_request_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"ping"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"request"'
        '}'
    )


def write_ping_complete_2(value: Any) -> str:
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    if type(value) is not dict or len(value) != 3:
        raise Doubt
    return (
        '{"ta-cmd":"ping"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"complete"'
        '}'
    )


def write_ping_fail_2(value: Any) -> str:
    size = 3
    ta_id = value["ta-id"]
    if type(ta_id) is not int or not 0 <= ta_id <= 0x7fffffffffffffff:
        raise Doubt
    fail_reason = ''
    if "fail-reason" in value:
        fail_reason = value["fail-reason"]
        if type(fail_reason) is not str or "\0" in fail_reason:
            raise Doubt
        fail_reason = f',"fail-reason":{spell_text(fail_reason)}'
        size += 1
    if type(value) is not dict or len(value) != size:
        raise Doubt
    return (
        '{"ta-cmd":"ping"'
        f',"ta-id":{ta_id}'
        ',"msg-type":"fail"'
        f'{fail_reason}'
        '}'
    )


WRITE_DEPLOYED_MESSAGE_BY: dict[Any, Any] = {
    ("hello", "request"): write_hello_request_2,
    ("hello", "complete"): write_hello_complete_2,
    ("hello", "fail"): write_hello_fail_2,
    ("subscribe", "request"): write_subscribe_request_2,
    ("subscribe", "accept"): write_subscribe_accept_2,
    ("subscribe", "notify"): write_deployed_message_subscribe_notify,
    ("subscribe", "complete"): write_subscribe_complete_2,
    ("subscribe", "fail"): write_subscribe_fail_2,
    ("unsubscribe", "request"): write_unsubscribe_request_2,
    ("unsubscribe", "complete"): write_unsubscribe_complete_2,
    ("unsubscribe", "fail"): write_unsubscribe_fail_2,
    ("subscriptions", "request"): write_subscriptions_request_2,
    ("subscriptions", "accept"): write_subscriptions_accept_2,
    ("subscriptions", "notify"): write_subscriptions_notify_2,
    ("subscriptions", "complete"): write_subscriptions_complete_2,
    ("subscriptions", "fail"): write_subscriptions_fail_2,
    ("services", "request"): write_services_request_2,
    ("services", "accept"): write_services_accept_2,
    ("services", "notify"): write_services_notify_2,
    ("services", "complete"): write_services_complete_2,
    ("services", "fail"): write_services_fail_2,
    ("publish", "request"): write_publish_request_2,
    ("publish", "complete"): write_publish_complete_2,
    ("publish", "fail"): write_publish_fail_2,
    ("unpublish", "request"): write_unpublish_request_2,
    ("unpublish", "complete"): write_unpublish_complete_2,
    ("unpublish", "fail"): write_unpublish_fail_2,
    ("clients", "request"): write_clients_request_2,
    ("clients", "accept"): write_clients_accept_2,
    ("clients", "notify"): write_clients_notify_2,
    ("clients", "complete"): write_clients_complete_2,
    ("clients", "fail"): write_clients_fail_2,
    ("ping", "request"): write_ping_request_2,
    ("ping", "complete"): write_ping_complete_2,
    ("ping", "fail"): write_ping_fail_2,
}


def write_deployed_message(value: Any) -> str:
    return WRITE_DEPLOYED_MESSAGE_BY[value["ta-cmd"], value["msg-type"]](value)


def decode_deployed_message(data: bytes, refuse: bool = False) -> Any:
    """Decode one ``pathfinder/deployed-message``."""
    try:
        if len(data) <= 262144:
            value = read_json(data)
            if check_deployed_message(value) == strings_in(data):
                return value
    except DOUBTS:
        pass
    return decide("pathfinder/deployed-message", data)


def encode_deployed_message(value: Any) -> bytes:
    """Encode one ``pathfinder/deployed-message``."""
    try:
        out = write_deployed_message(value).encode()
        if len(out) <= 262144:
            return out
    except DOUBTS:
        pass
    return spell_undecided("pathfinder/deployed-message", value)


CODECS = {
    "message": Codec(decode_message, encode_message),
    "deployed-message": Codec(decode_deployed_message, encode_deployed_message),
}
