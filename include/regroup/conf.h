/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REGROUP_CONF_H
#define REGROUP_CONF_H

/** @file
 * Configuration: Kafka's property names and values. The properties of the group layer and of its connections
 * are regroup's; every other property goes to librdkafka, which fetches the records. Nothing is accepted that has no
 * effect. */

#include <regroup/assignor.h>
#include <regroup/error.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A set of properties. Not safe for use by two threads at once. */
typedef struct rg_conf rg_conf;

/** A configuration with every property at its default. NULL when out of memory. Free with rg_conf_free(). */
RG_API rg_conf *rg_conf_new(void);

/** Frees a configuration. Consumers and members made from it keep their own copy. NULL is ignored. */
RG_API void rg_conf_free(rg_conf *conf);

/** Sets a property. Returns RG_OK, RG_ERR_INVALID (unknown name, or a value outside its range: the text names the
 * property, the value and what is accepted) or RG_ERR_MEMORY; on failure the old value stays. `error` may be NULL. */
RG_API rg_err rg_conf_set(rg_conf *conf, const char *name, const char *value, rg_error *error);

/** Copies a property's value, NUL-terminated, into `value` (at most `size` bytes). *ret_size, if not NULL, is the
 * room it needs with its NUL. RG_OK; RG_ERR_INVALID: unknown name, or `size` too small, or a property that holds a
 * secret. */
RG_API rg_err rg_conf_get(const rg_conf *conf, const char *name, char *value, size_t size, size_t *ret_size);

/** Registers an assignor under its name, so that partition.assignment.strategy may list it. The struct is copied;
 * what its name and `user` point to must outlive every consumer made from this configuration. Under the name of a
 * built-in it takes that one's place. RG_OK; RG_ERR_INVALID: name empty, over 255 bytes or taken, no `assign`, no
 * protocol; RG_ERR_MEMORY. */
RG_API rg_err rg_conf_add_assignor(rg_conf *conf, const rg_assignor *assignor, void *user, rg_error *error);

/** Where log lines go: `level` is syslog's (3 error … 7 debug), `facility` a short word, `line` one line without its
 * end, free of secrets. Called on any thread, one call at a time for each consumer or member; must not call into it.
 * NULL turns the log off; the default writes notices (5), warnings and errors to stderr. What is tried again without
 * success is a warning once it lasts some seconds (a connection that cannot be made, or an answer that does not
 * come: at once), and a notice when it works again. */
typedef void rg_log_cb(void *user, int level, const char *facility, const char *line);
RG_API void rg_conf_set_log(rg_conf *conf, rg_log_cb *write, void *user);

/** Where events go: what the member does and sees, one JSON object a call, without a line end; regroup(7) has the
 * schema. Called on any thread, one call at a time for each consumer or member; must not call into it. NULL (the
 * default): none. */
typedef void rg_event_cb(void *user, const char *json);
RG_API void rg_conf_set_events(rg_conf *conf, rg_event_cb *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
