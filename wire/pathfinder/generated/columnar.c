/* Columns of pathfinder: generated from wire/pathfinder by `python -m wire.emit`. Do not edit. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for madvise */
#endif
#ifndef GOLDWIRE_WITHOUT_PYTHON
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#endif

#include "columns.h"

enum { DEEPEST = 64, MOST_MEMBERS = 10 };

#include "json.h"

enum {
    C_MESSAGE_TYPE,
};

static const int32_t C_MESSAGE_TYPE_NAMES_ENDS[] = {0, 13, 27, 37, 54, 70, 86, 114, 132, 146, 165, 185, 201, 222, 242, 262, 284, 302, 318, 333, 348, 365, 378, 393, 409, 421, 438, 456, 470, 485, 499, 513, 529, 541, 553, 566, 575};

static const choices C_MESSAGE_TYPE_NAMES = {
    36,
    C_MESSAGE_TYPE_NAMES_ENDS,
    "hello-request"
    "hello-complete"
    "hello-fail"
    "subscribe-request"
    "subscribe-accept"
    "subscribe-notify"
    "subscribe-notify-disappeared"
    "subscribe-complete"
    "subscribe-fail"
    "unsubscribe-request"
    "unsubscribe-complete"
    "unsubscribe-fail"
    "subscriptions-request"
    "subscriptions-accept"
    "subscriptions-notify"
    "subscriptions-complete"
    "subscriptions-fail"
    "services-request"
    "services-accept"
    "services-notify"
    "services-complete"
    "services-fail"
    "publish-request"
    "publish-complete"
    "publish-fail"
    "unpublish-request"
    "unpublish-complete"
    "unpublish-fail"
    "clients-request"
    "clients-accept"
    "clients-notify"
    "clients-complete"
    "clients-fail"
    "ping-request"
    "ping-complete"
    "ping-fail"
};

static const column_type MESSAGE_TABLE_COLUMNS[] = {
    [C_MESSAGE_TYPE] = {.name = "type", .kind = CHOICE, .size = 1, .choices = &C_MESSAGE_TYPE_NAMES},
};

static const table_type MESSAGE_TABLE = {1, MESSAGE_TABLE_COLUMNS};

static const word MESSAGE_WORD_1[] = {
    {"hello", 5},
};

static const place MESSAGE_PLACE_1 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_1};

static const place MESSAGE_PLACE_2 = {.kinds = 1 << JSON_INTEGER, .least = 0, .most = INT64_C(9223372036854775807)};

static const word MESSAGE_WORD_2[] = {
    {"request", 7},
};

static const place MESSAGE_PLACE_3 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_2};

static const member MESSAGE_MEMBER_1[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_1},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
    {{"client-id", 9}, 1, &MESSAGE_PLACE_2},
    {{"protocol-minimum-version", 24}, 1, &MESSAGE_PLACE_2},
    {{"protocol-maximum-version", 24}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_1 = {.form = OBJECT, .choice = 0, .count = 6, .required = 6, .members = MESSAGE_MEMBER_1};

static const word MESSAGE_WORD_3[] = {
    {"complete", 8},
};

static const place MESSAGE_PLACE_4 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_3};

static const member MESSAGE_MEMBER_2[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_1},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
    {{"protocol-version", 16}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_2 = {.form = OBJECT, .choice = 1, .count = 4, .required = 4, .members = MESSAGE_MEMBER_2};

static const word MESSAGE_WORD_4[] = {
    {"fail", 4},
};

static const place MESSAGE_PLACE_5 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_4};

static const place MESSAGE_PLACE_6 = {.kinds = 1 << JSON_TEXT};

static const member MESSAGE_MEMBER_3[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_1},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_3 = {.form = OBJECT, .choice = 2, .count = 4, .required = 3, .members = MESSAGE_MEMBER_3};

static const branch MESSAGE_BRANCH_1[] = {
    {{"request", 7}, &MESSAGE_SHAPE_1},
    {{"complete", 8}, &MESSAGE_SHAPE_2},
    {{"fail", 4}, &MESSAGE_SHAPE_3},
};

static const shape MESSAGE_SHAPE_4 = {.form = DECISION, .choice = -1, .count = 3, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_1};

static const word MESSAGE_WORD_5[] = {
    {"subscribe", 9},
};

static const place MESSAGE_PLACE_7 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_5};

static const member MESSAGE_MEMBER_4[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_7},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
    {{"subscription-id", 15}, 1, &MESSAGE_PLACE_2},
    {{"filter", 6}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_5 = {.form = OBJECT, .choice = 3, .count = 5, .required = 4, .members = MESSAGE_MEMBER_4};

static const word MESSAGE_WORD_6[] = {
    {"accept", 6},
};

static const place MESSAGE_PLACE_8 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_6};

static const member MESSAGE_MEMBER_5[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_7},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_8},
};

static const shape MESSAGE_SHAPE_6 = {.form = OBJECT, .choice = 4, .count = 3, .required = 3, .members = MESSAGE_MEMBER_5};

static const word MESSAGE_WORD_7[] = {
    {"notify", 6},
};

static const place MESSAGE_PLACE_9 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_7};

static const word MESSAGE_WORD_8[] = {
    {"appeared", 8},
    {"modified", 8},
};

static const place MESSAGE_PLACE_10 = {.kinds = 1 << JSON_TEXT, .count = 2, .texts = MESSAGE_WORD_8};

static const place MESSAGE_PLACE_11 = {.kinds = 1 << JSON_TEXT | 1 << JSON_INTEGER, .least = INT64_MIN, .most = INT64_C(9223372036854775807)};

static const place MESSAGE_PLACE_12 = {.kinds = 1 << JSON_ARRAY, .items = &MESSAGE_PLACE_11};

static const shape MESSAGE_SHAPE_7 = {.form = MAP, .choice = -1, .items = &MESSAGE_PLACE_12};

static const place MESSAGE_PLACE_13 = {.kinds = 1 << JSON_OBJECT, .object = &MESSAGE_SHAPE_7};

static const place MESSAGE_PLACE_14 = {.kinds = 1 << JSON_INTEGER | 1 << JSON_REAL, .least = 0, .most = INT64_C(9223372036854775807), .least_real = 0x0.0p+0};

static const member MESSAGE_MEMBER_6[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_7},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_9},
    {{"match-type", 10}, 1, &MESSAGE_PLACE_10},
    {{"service-id", 10}, 1, &MESSAGE_PLACE_2},
    {{"generation", 10}, 1, &MESSAGE_PLACE_2},
    {{"service-props", 13}, 1, &MESSAGE_PLACE_13},
    {{"ttl", 3}, 1, &MESSAGE_PLACE_2},
    {{"client-id", 9}, 1, &MESSAGE_PLACE_2},
    {{"orphan-since", 12}, 0, &MESSAGE_PLACE_14},
};

static const shape MESSAGE_SHAPE_8 = {.form = OBJECT, .choice = 5, .count = 10, .required = 9, .members = MESSAGE_MEMBER_6};

static const word MESSAGE_WORD_9[] = {
    {"disappeared", 11},
};

static const place MESSAGE_PLACE_15 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_9};

static const member MESSAGE_MEMBER_7[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_7},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_9},
    {{"match-type", 10}, 1, &MESSAGE_PLACE_15},
    {{"service-id", 10}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_9 = {.form = OBJECT, .choice = 6, .count = 5, .required = 5, .members = MESSAGE_MEMBER_7};

static const branch MESSAGE_BRANCH_2[] = {
    {{"appeared", 8}, &MESSAGE_SHAPE_8},
    {{"modified", 8}, &MESSAGE_SHAPE_8},
    {{"disappeared", 11}, &MESSAGE_SHAPE_9},
};

static const shape MESSAGE_SHAPE_10 = {.form = DECISION, .choice = -1, .count = 3, .by = {"match-type", 10}, .branches = MESSAGE_BRANCH_2};

static const member MESSAGE_MEMBER_8[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_7},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_11 = {.form = OBJECT, .choice = 7, .count = 3, .required = 3, .members = MESSAGE_MEMBER_8};

static const member MESSAGE_MEMBER_9[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_7},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_12 = {.form = OBJECT, .choice = 8, .count = 4, .required = 3, .members = MESSAGE_MEMBER_9};

static const branch MESSAGE_BRANCH_3[] = {
    {{"request", 7}, &MESSAGE_SHAPE_5},
    {{"accept", 6}, &MESSAGE_SHAPE_6},
    {{"notify", 6}, &MESSAGE_SHAPE_10},
    {{"complete", 8}, &MESSAGE_SHAPE_11},
    {{"fail", 4}, &MESSAGE_SHAPE_12},
};

static const shape MESSAGE_SHAPE_13 = {.form = DECISION, .choice = -1, .count = 5, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_3};

static const word MESSAGE_WORD_10[] = {
    {"unsubscribe", 11},
};

static const place MESSAGE_PLACE_16 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_10};

static const member MESSAGE_MEMBER_10[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_16},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
    {{"subscription-id", 15}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_14 = {.form = OBJECT, .choice = 9, .count = 4, .required = 4, .members = MESSAGE_MEMBER_10};

static const member MESSAGE_MEMBER_11[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_16},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_15 = {.form = OBJECT, .choice = 10, .count = 3, .required = 3, .members = MESSAGE_MEMBER_11};

static const member MESSAGE_MEMBER_12[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_16},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_16 = {.form = OBJECT, .choice = 11, .count = 4, .required = 3, .members = MESSAGE_MEMBER_12};

static const branch MESSAGE_BRANCH_4[] = {
    {{"request", 7}, &MESSAGE_SHAPE_14},
    {{"complete", 8}, &MESSAGE_SHAPE_15},
    {{"fail", 4}, &MESSAGE_SHAPE_16},
};

static const shape MESSAGE_SHAPE_17 = {.form = DECISION, .choice = -1, .count = 3, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_4};

static const word MESSAGE_WORD_11[] = {
    {"subscriptions", 13},
};

static const place MESSAGE_PLACE_17 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_11};

static const member MESSAGE_MEMBER_13[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_17},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
};

static const shape MESSAGE_SHAPE_18 = {.form = OBJECT, .choice = 12, .count = 3, .required = 3, .members = MESSAGE_MEMBER_13};

static const member MESSAGE_MEMBER_14[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_17},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_8},
};

static const shape MESSAGE_SHAPE_19 = {.form = OBJECT, .choice = 13, .count = 3, .required = 3, .members = MESSAGE_MEMBER_14};

static const member MESSAGE_MEMBER_15[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_17},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_9},
    {{"subscription-id", 15}, 1, &MESSAGE_PLACE_2},
    {{"client-id", 9}, 1, &MESSAGE_PLACE_2},
    {{"filter", 6}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_20 = {.form = OBJECT, .choice = 14, .count = 6, .required = 5, .members = MESSAGE_MEMBER_15};

static const member MESSAGE_MEMBER_16[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_17},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_21 = {.form = OBJECT, .choice = 15, .count = 3, .required = 3, .members = MESSAGE_MEMBER_16};

static const member MESSAGE_MEMBER_17[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_17},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_22 = {.form = OBJECT, .choice = 16, .count = 4, .required = 3, .members = MESSAGE_MEMBER_17};

static const branch MESSAGE_BRANCH_5[] = {
    {{"request", 7}, &MESSAGE_SHAPE_18},
    {{"accept", 6}, &MESSAGE_SHAPE_19},
    {{"notify", 6}, &MESSAGE_SHAPE_20},
    {{"complete", 8}, &MESSAGE_SHAPE_21},
    {{"fail", 4}, &MESSAGE_SHAPE_22},
};

static const shape MESSAGE_SHAPE_23 = {.form = DECISION, .choice = -1, .count = 5, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_5};

static const word MESSAGE_WORD_12[] = {
    {"services", 8},
};

static const place MESSAGE_PLACE_18 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_12};

static const member MESSAGE_MEMBER_18[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_18},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
    {{"filter", 6}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_24 = {.form = OBJECT, .choice = 17, .count = 4, .required = 3, .members = MESSAGE_MEMBER_18};

static const member MESSAGE_MEMBER_19[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_18},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_8},
};

static const shape MESSAGE_SHAPE_25 = {.form = OBJECT, .choice = 18, .count = 3, .required = 3, .members = MESSAGE_MEMBER_19};

static const member MESSAGE_MEMBER_20[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_18},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_9},
    {{"service-id", 10}, 1, &MESSAGE_PLACE_2},
    {{"generation", 10}, 1, &MESSAGE_PLACE_2},
    {{"service-props", 13}, 1, &MESSAGE_PLACE_13},
    {{"ttl", 3}, 1, &MESSAGE_PLACE_2},
    {{"client-id", 9}, 1, &MESSAGE_PLACE_2},
    {{"orphan-since", 12}, 0, &MESSAGE_PLACE_14},
};

static const shape MESSAGE_SHAPE_26 = {.form = OBJECT, .choice = 19, .count = 9, .required = 8, .members = MESSAGE_MEMBER_20};

static const member MESSAGE_MEMBER_21[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_18},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_27 = {.form = OBJECT, .choice = 20, .count = 3, .required = 3, .members = MESSAGE_MEMBER_21};

static const member MESSAGE_MEMBER_22[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_18},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_28 = {.form = OBJECT, .choice = 21, .count = 4, .required = 3, .members = MESSAGE_MEMBER_22};

static const branch MESSAGE_BRANCH_6[] = {
    {{"request", 7}, &MESSAGE_SHAPE_24},
    {{"accept", 6}, &MESSAGE_SHAPE_25},
    {{"notify", 6}, &MESSAGE_SHAPE_26},
    {{"complete", 8}, &MESSAGE_SHAPE_27},
    {{"fail", 4}, &MESSAGE_SHAPE_28},
};

static const shape MESSAGE_SHAPE_29 = {.form = DECISION, .choice = -1, .count = 5, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_6};

static const word MESSAGE_WORD_13[] = {
    {"publish", 7},
};

static const place MESSAGE_PLACE_19 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_13};

static const member MESSAGE_MEMBER_23[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_19},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
    {{"service-id", 10}, 1, &MESSAGE_PLACE_2},
    {{"generation", 10}, 1, &MESSAGE_PLACE_2},
    {{"service-props", 13}, 1, &MESSAGE_PLACE_13},
    {{"ttl", 3}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_30 = {.form = OBJECT, .choice = 22, .count = 7, .required = 7, .members = MESSAGE_MEMBER_23};

static const member MESSAGE_MEMBER_24[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_19},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_31 = {.form = OBJECT, .choice = 23, .count = 3, .required = 3, .members = MESSAGE_MEMBER_24};

static const member MESSAGE_MEMBER_25[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_19},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_32 = {.form = OBJECT, .choice = 24, .count = 4, .required = 3, .members = MESSAGE_MEMBER_25};

static const branch MESSAGE_BRANCH_7[] = {
    {{"request", 7}, &MESSAGE_SHAPE_30},
    {{"complete", 8}, &MESSAGE_SHAPE_31},
    {{"fail", 4}, &MESSAGE_SHAPE_32},
};

static const shape MESSAGE_SHAPE_33 = {.form = DECISION, .choice = -1, .count = 3, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_7};

static const word MESSAGE_WORD_14[] = {
    {"unpublish", 9},
};

static const place MESSAGE_PLACE_20 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_14};

static const member MESSAGE_MEMBER_26[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_20},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
    {{"service-id", 10}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_34 = {.form = OBJECT, .choice = 25, .count = 4, .required = 4, .members = MESSAGE_MEMBER_26};

static const member MESSAGE_MEMBER_27[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_20},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_35 = {.form = OBJECT, .choice = 26, .count = 3, .required = 3, .members = MESSAGE_MEMBER_27};

static const member MESSAGE_MEMBER_28[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_20},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_36 = {.form = OBJECT, .choice = 27, .count = 4, .required = 3, .members = MESSAGE_MEMBER_28};

static const branch MESSAGE_BRANCH_8[] = {
    {{"request", 7}, &MESSAGE_SHAPE_34},
    {{"complete", 8}, &MESSAGE_SHAPE_35},
    {{"fail", 4}, &MESSAGE_SHAPE_36},
};

static const shape MESSAGE_SHAPE_37 = {.form = DECISION, .choice = -1, .count = 3, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_8};

static const word MESSAGE_WORD_15[] = {
    {"clients", 7},
};

static const place MESSAGE_PLACE_21 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_15};

static const member MESSAGE_MEMBER_29[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_21},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
};

static const shape MESSAGE_SHAPE_38 = {.form = OBJECT, .choice = 28, .count = 3, .required = 3, .members = MESSAGE_MEMBER_29};

static const member MESSAGE_MEMBER_30[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_21},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_8},
};

static const shape MESSAGE_SHAPE_39 = {.form = OBJECT, .choice = 29, .count = 3, .required = 3, .members = MESSAGE_MEMBER_30};

static const member MESSAGE_MEMBER_31[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_21},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_9},
    {{"client-id", 9}, 1, &MESSAGE_PLACE_2},
    {{"client-addr", 11}, 1, &MESSAGE_PLACE_6},
    {{"time", 4}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_40 = {.form = OBJECT, .choice = 30, .count = 6, .required = 6, .members = MESSAGE_MEMBER_31};

static const member MESSAGE_MEMBER_32[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_21},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_41 = {.form = OBJECT, .choice = 31, .count = 3, .required = 3, .members = MESSAGE_MEMBER_32};

static const member MESSAGE_MEMBER_33[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_21},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_42 = {.form = OBJECT, .choice = 32, .count = 4, .required = 3, .members = MESSAGE_MEMBER_33};

static const branch MESSAGE_BRANCH_9[] = {
    {{"request", 7}, &MESSAGE_SHAPE_38},
    {{"accept", 6}, &MESSAGE_SHAPE_39},
    {{"notify", 6}, &MESSAGE_SHAPE_40},
    {{"complete", 8}, &MESSAGE_SHAPE_41},
    {{"fail", 4}, &MESSAGE_SHAPE_42},
};

static const shape MESSAGE_SHAPE_43 = {.form = DECISION, .choice = -1, .count = 5, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_9};

static const word MESSAGE_WORD_16[] = {
    {"ping", 4},
};

static const place MESSAGE_PLACE_22 = {.kinds = 1 << JSON_TEXT, .count = 1, .texts = MESSAGE_WORD_16};

static const member MESSAGE_MEMBER_34[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_22},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_3},
};

static const shape MESSAGE_SHAPE_44 = {.form = OBJECT, .choice = 33, .count = 3, .required = 3, .members = MESSAGE_MEMBER_34};

static const member MESSAGE_MEMBER_35[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_22},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_4},
};

static const shape MESSAGE_SHAPE_45 = {.form = OBJECT, .choice = 34, .count = 3, .required = 3, .members = MESSAGE_MEMBER_35};

static const member MESSAGE_MEMBER_36[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_22},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_5},
    {{"fail-reason", 11}, 0, &MESSAGE_PLACE_6},
};

static const shape MESSAGE_SHAPE_46 = {.form = OBJECT, .choice = 35, .count = 4, .required = 3, .members = MESSAGE_MEMBER_36};

static const branch MESSAGE_BRANCH_10[] = {
    {{"request", 7}, &MESSAGE_SHAPE_44},
    {{"complete", 8}, &MESSAGE_SHAPE_45},
    {{"fail", 4}, &MESSAGE_SHAPE_46},
};

static const shape MESSAGE_SHAPE_47 = {.form = DECISION, .choice = -1, .count = 3, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_10};

static const branch MESSAGE_BRANCH_11[] = {
    {{"hello", 5}, &MESSAGE_SHAPE_4},
    {{"subscribe", 9}, &MESSAGE_SHAPE_13},
    {{"unsubscribe", 11}, &MESSAGE_SHAPE_17},
    {{"subscriptions", 13}, &MESSAGE_SHAPE_23},
    {{"services", 8}, &MESSAGE_SHAPE_29},
    {{"publish", 7}, &MESSAGE_SHAPE_33},
    {{"unpublish", 9}, &MESSAGE_SHAPE_37},
    {{"clients", 7}, &MESSAGE_SHAPE_43},
    {{"ping", 4}, &MESSAGE_SHAPE_47},
};

static const shape MESSAGE_SHAPE_48 = {.form = DECISION, .choice = -1, .count = 9, .by = {"ta-cmd", 6}, .branches = MESSAGE_BRANCH_11};

static const place MESSAGE_PLACE_23 = {.kinds = 1 << JSON_OBJECT, .object = &MESSAGE_SHAPE_48};

static const member MESSAGE_MEMBER_37[] = {
    {{"ta-cmd", 6}, 1, &MESSAGE_PLACE_21},
    {{"ta-id", 5}, 1, &MESSAGE_PLACE_2},
    {{"msg-type", 8}, 1, &MESSAGE_PLACE_9},
    {{"client-id", 9}, 1, &MESSAGE_PLACE_2},
    {{"client-address", 14}, 1, &MESSAGE_PLACE_6},
    {{"time", 4}, 1, &MESSAGE_PLACE_2},
};

static const shape MESSAGE_SHAPE_49 = {.form = OBJECT, .choice = 30, .count = 6, .required = 6, .members = MESSAGE_MEMBER_37};

static const branch MESSAGE_BRANCH_12[] = {
    {{"request", 7}, &MESSAGE_SHAPE_38},
    {{"accept", 6}, &MESSAGE_SHAPE_39},
    {{"notify", 6}, &MESSAGE_SHAPE_49},
    {{"complete", 8}, &MESSAGE_SHAPE_41},
    {{"fail", 4}, &MESSAGE_SHAPE_42},
};

static const shape MESSAGE_SHAPE_50 = {.form = DECISION, .choice = -1, .count = 5, .by = {"msg-type", 8}, .branches = MESSAGE_BRANCH_12};

static const branch MESSAGE_BRANCH_13[] = {
    {{"hello", 5}, &MESSAGE_SHAPE_4},
    {{"subscribe", 9}, &MESSAGE_SHAPE_13},
    {{"unsubscribe", 11}, &MESSAGE_SHAPE_17},
    {{"subscriptions", 13}, &MESSAGE_SHAPE_23},
    {{"services", 8}, &MESSAGE_SHAPE_29},
    {{"publish", 7}, &MESSAGE_SHAPE_33},
    {{"unpublish", 9}, &MESSAGE_SHAPE_37},
    {{"clients", 7}, &MESSAGE_SHAPE_50},
    {{"ping", 4}, &MESSAGE_SHAPE_47},
};

static const shape MESSAGE_SHAPE_51 = {.form = DECISION, .choice = -1, .count = 9, .by = {"ta-cmd", 6}, .branches = MESSAGE_BRANCH_13};

static const place MESSAGE_PLACE_24 = {.kinds = 1 << JSON_OBJECT, .object = &MESSAGE_SHAPE_51};

static const uint8_t *fill_frame_of_message(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (f->end - p > 262144)
        return refused(f, TOO_LONG, p + 262144);
    TAKE(json_frame(f, p, &MESSAGE_PLACE_23));
    return take_choice(f, p, t, C_MESSAGE_TYPE, row, 1, (uint64_t)f->json->choice);
}

static int run_message(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_message);
}

static const uint8_t *fill_frame_of_deployed_message(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (f->end - p > 262144)
        return refused(f, TOO_LONG, p + 262144);
    TAKE(json_frame(f, p, &MESSAGE_PLACE_24));
    return take_choice(f, p, t, C_MESSAGE_TYPE, row, 1, (uint64_t)f->json->choice);
}

static int run_deployed_message(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_deployed_message);
}

static const int32_t REFUSED_NAMES_ENDS[] = {0, 9, 21, 29, 39, 47, 55, 64, 72, 80, 90, 104, 114, 127, 140};

static const choices REFUSED_NAMES = {
    14,
    REFUSED_NAMES_ENDS,
    "truncated"
    "out-of-range"
    "overlong"
    "unknown-id"
    "bad-text"
    "reserved"
    "bad-value"
    "trailing"
    "too-long"
    "bad-syntax"
    "duplicate-name"
    "wrong-type"
    "missing-field"
    "unknown-field"
};

static const column_type REFUSAL_COLUMNS[] = {
    [REFUSED] = {.name = "refused", .kind = CHOICE, .size = 1, .choices = &REFUSED_NAMES},
    [REFUSED_AT] = {.name = "refused_at", .kind = OFFSET, .size = 8},
};

static const table_type REFUSALS = {2, REFUSAL_COLUMNS};

static const layout LAYOUTS[] = {
    {"pathfinder/message", &REFUSALS, &MESSAGE_TABLE, run_message},
    {"pathfinder/deployed-message", &REFUSALS, &MESSAGE_TABLE, run_deployed_message},
    {NULL, NULL, NULL, NULL},
};

#ifndef GOLDWIRE_WITHOUT_PYTHON
#define STAMP "4f99a3f334bc91c3"
#include "capsules.h"
#endif
