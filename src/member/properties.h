/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RG__MEMBER_PROPERTIES_H
#define RG__MEMBER_PROPERTIES_H

/* The properties that are regroup's own, as one table: name, type, range, default, place in struct rg__settings. */

#include "base/bytes.h"
#include "member/settings.h"

#include <stddef.h>

enum rg__property_type {
	RG__PROPERTY_STRING, /* min … max: its length in bytes */
	RG__PROPERTY_INT,    /* int32_t, min … max */
	RG__PROPERTY_BOOL,
	RG__PROPERTY_CHOICE, /* int32_t, which of `choices`; capitals do not matter */
	RG__PROPERTY_RESET,  /* auto.offset.reset */
	RG__PROPERTY_FIXED   /* has one value only, its default, and no place */
};

struct rg__property {
	const char *name;
	enum rg__property_type type;
	bool both;            /* librdkafka has it as well, and gets the same value */
	bool newer;           /* the same, in librdkafka's newer versions */
	int32_t min, max;
	const char *fallback; /* the default; NULL: none, which the value "" is, too */
	size_t at;
	/* A string's own rules. RG_OK or RG_ERR_INVALID, or RG_ERR_MEMORY; the text is complete. May be NULL. */
	rg_err (*check)(const char *value, rg_error *error);
	const char *note;     /* FIXED: why */
	const char *const *choices; /* CHOICE: ends with NULL */
};

extern const struct rg__property rg__properties[];
extern const size_t rg__property_count;

/* By its name, or a name that librdkafka has for the same; NULL: not one of ours. */
const struct rg__property *rg__property_find(const char *name);

/* The default; NULL: none. */
const char *rg__property_default(const struct rg__property *property);

/* Reads a value. RG_OK and the old one is replaced; RG_ERR_INVALID, RG_ERR_MEMORY: it stays. */
rg_err rg__property_set(const struct rg__property *property, struct rg__settings *settings, const char *value,
                        rg_error *error);

/* Appends the value as text. False: out of memory. */
bool rg__property_print(const struct rg__property *property, const struct rg__settings *settings, struct rg__buf *out);

/* How librdkafka spells a value that rg__property_set has accepted. */
const char *rg__property_rdkafka_value(const struct rg__property *property, const char *value);

/* Why a property of librdkafka's is not accepted: it would have no effect here, or a wrong one. NULL: it is. */
const char *rg__property_refused(const char *name);

/* Whether the value is nobody's business: neither given back nor logged. */
bool rg__property_is_secret(const char *name);
bool rg__property_has_secret(const char *value); /* looks like user:password@host, whatever the name */

#endif
