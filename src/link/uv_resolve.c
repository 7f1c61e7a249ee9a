/* SPDX-License-Identifier: Apache-2.0 */
#include "link/uv_internal.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Names are looked up on detached threads of their own and not by uv_getaddrinfo: a system resolver may hang for half a
 * minute and cannot be interrupted, and libuv's loop cannot be closed before it returns. Here a cancelled lookup is
 * left behind, and its thread frees what it found. */

enum { THREADS_MAX = 16, ADDRESSES_MAX = 64 };

struct rg__lookup {
	struct rg__uv_mailbox *mailbox;
	struct rg__lookup *next; /* in the mailbox */
	rg__resolved *resolved;
	void *user;
	bool done, cancelled; /* under the mailbox's lock */
	rg_error error;
	struct rg__address *addresses;
	size_t count;
	char port[8];
	char host[];
};

static void lookup_free(struct rg__lookup *lookup)
{
	if (lookup)
		rg__free(lookup->addresses);
	rg__free(lookup);
}

/* --- The mailbox -------------------------------------------------------------------------------------------------- */

struct rg__uv_mailbox *rg__uv_mailbox_new(struct rg__uv_io *uv)
{
	struct rg__uv_mailbox *mailbox = rg__calloc(1, sizeof(*mailbox));

	if (!mailbox)
		return NULL;
	if (pthread_mutex_init(&mailbox->lock, NULL) != 0) {
		rg__free(mailbox);
		return NULL;
	}
	mailbox->io = uv;
	mailbox->refs = 1;
	return mailbox;
}

/* With the lock held; gives it back. */
static void unlock_and_release(struct rg__uv_mailbox *mailbox)
{
	bool last = --mailbox->refs == 0;

	pthread_mutex_unlock(&mailbox->lock);
	if (last) {
		pthread_mutex_destroy(&mailbox->lock);
		rg__free(mailbox);
	}
}

void rg__uv_mailbox_close(struct rg__uv_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	mailbox->io = NULL;
	while (mailbox->done) {
		struct rg__lookup *lookup = mailbox->done;

		mailbox->done = lookup->next;
		lookup_free(lookup);
	}
	unlock_and_release(mailbox);
}

/* With the lock held. */
static void post(struct rg__uv_mailbox *mailbox, struct rg__lookup *lookup)
{
	lookup->done = true;
	if (lookup->cancelled || !mailbox->io) {
		lookup_free(lookup);
		return;
	}
	lookup->next = mailbox->done;
	mailbox->done = lookup;
	uv_async_send(&mailbox->io->async);
}

static struct rg__lookup *take(struct rg__uv_mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
	struct rg__lookup *lookup = mailbox->done;

	if (lookup)
		mailbox->done = lookup->next;
	pthread_mutex_unlock(&mailbox->lock);
	return lookup;
}

void rg__uv_mailbox_deliver(struct rg__uv_io *uv)
{
	struct rg__lookup *lookup;

	while (!uv->freed && (lookup = take(uv->mailbox))) {
		lookup->resolved(lookup->user, lookup->addresses, lookup->count, lookup->error.code ? &lookup->error : NULL);
		lookup_free(lookup);
	}
}

/* --- Looking up --------------------------------------------------------------------------------------------------- */

static void keep_addresses(struct rg__lookup *lookup, const struct addrinfo *found)
{
	size_t count = 0;

	for (const struct addrinfo *at = found; at && count < ADDRESSES_MAX; at = at->ai_next)
		count++;
	lookup->addresses = rg__calloc(count, sizeof(*lookup->addresses));
	if (!lookup->addresses) {
		rg__fail(&lookup->error, RG_ERR_MEMORY, "out of memory");
		return;
	}
	for (const struct addrinfo *at = found; at && lookup->count < count; at = at->ai_next) {
		if (at->ai_family != AF_INET && at->ai_family != AF_INET6)
			continue;
		memcpy(&lookup->addresses[lookup->count++].storage, at->ai_addr, at->ai_addrlen);
	}
	if (!lookup->count)
		rg__fail(&lookup->error, RG_ERR_RESOLVE, "the name has no address");
}

/* False: not a number, a name server is needed. */
static bool look_up(struct rg__lookup *lookup, int flags)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	int code = getaddrinfo(lookup->host, lookup->port, &hints, &found);

	if (code != 0) {
		if (flags & AI_NUMERICHOST && code == EAI_NONAME)
			return false;
		char text[128] = "";

		if (code == EAI_SYSTEM)
			uv_strerror_r(uv_translate_sys_error(errno), text, sizeof(text));
		rg__fail(&lookup->error, code == EAI_MEMORY ? RG_ERR_MEMORY : RG_ERR_RESOLVE,
		         "the name does not resolve (%s)", code == EAI_SYSTEM ? text : gai_strerror(code));
		return true;
	}
	keep_addresses(lookup, found);
	freeaddrinfo(found);
	return true;
}

static void *run(void *argument)
{
	struct rg__lookup *lookup = argument;
	struct rg__uv_mailbox *mailbox = lookup->mailbox;

	look_up(lookup, 0);
	pthread_mutex_lock(&mailbox->lock);
	mailbox->threads--;
	post(mailbox, lookup);
	unlock_and_release(mailbox);
	return NULL;
}

/* The application's signals are not for this thread. */
static int start_detached(struct rg__lookup *lookup)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int code = pthread_attr_init(&attributes);

	if (code != 0)
		return code;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, &attributes, run, lookup);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return code;
}

/* With the lock held: the thread cannot finish before it is counted. */
static void start_thread(struct rg__uv_mailbox *mailbox, struct rg__lookup *lookup)
{
	int code = 0;

	if (mailbox->threads >= THREADS_MAX) {
		rg__fail(&lookup->error, RG_ERR_RESOLVE, "%d name lookups are still waiting for the system's resolver",
		         mailbox->threads);
	} else if ((code = start_detached(lookup)) != 0) {
		rg__fail(&lookup->error, RG_ERR_RESOLVE, "no thread for the name lookup (error %d)", code);
	} else {
		mailbox->threads++;
		mailbox->refs++;
		return;
	}
	post(mailbox, lookup);
}

struct rg__lookup *rg__uv_resolve(struct rg__io *io, const char *host, uint16_t port, rg__resolved *resolved,
                                  void *user)
{
	struct rg__uv_mailbox *mailbox = ((struct rg__uv_io *)io)->mailbox;
	size_t len = strlen(host);
	struct rg__lookup *lookup = rg__calloc(1, sizeof(*lookup) + len + 1);

	if (!lookup)
		return NULL;
	memcpy(lookup->host, host, len + 1);
	snprintf(lookup->port, sizeof(lookup->port), "%u", (unsigned)port);
	lookup->mailbox = mailbox;
	lookup->resolved = resolved;
	lookup->user = user;
	bool numeric = look_up(lookup, AI_NUMERICHOST);

	pthread_mutex_lock(&mailbox->lock);
	if (numeric)
		post(mailbox, lookup);
	else
		start_thread(mailbox, lookup);
	pthread_mutex_unlock(&mailbox->lock);
	return lookup;
}

void rg__uv_resolve_cancel(struct rg__io *io, struct rg__lookup *lookup)
{
	struct rg__uv_mailbox *mailbox = ((struct rg__uv_io *)io)->mailbox;

	pthread_mutex_lock(&mailbox->lock);
	lookup->cancelled = true;
	if (lookup->done) {
		for (struct rg__lookup **at = &mailbox->done; *at; at = &(*at)->next) {
			if (*at == lookup) {
				*at = lookup->next;
				break;
			}
		}
		lookup_free(lookup);
	}
	pthread_mutex_unlock(&mailbox->lock);
}
