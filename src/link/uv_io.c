/* SPDX-License-Identifier: Apache-2.0 */
#include "link/uv_internal.h"

#include "base/alloc.h"

#include <time.h>
#include <utlist.h>

/* --- Clock and timers --------------------------------------------------------------------------------------------- */

/* A deadline that has passed does not go to libuv: up to 1.44 at least its loop runs a timer that sets itself to "now"
 * again and again, and nothing else has a turn. Those wait in the io's own list for one turn. */
struct rg__uv_timer {
	struct rg__timer timer;
	struct rg__uv_timer *prev, *next; /* in `due` */
	bool is_due;
	uint64_t due_turn; /* when it was put there */
	uv_timer_t handle;
	int64_t at_us;
};

/* uv_timer counts in whole milliseconds of a clock that is read once per turn: far deadlines go in steps, and a timer
 * that fires early by a fraction is set again. */
enum { LONGEST_SLEEP_MS = 60 * 60 * 1000 };

static int64_t now_us(struct rg__io *io)
{
	(void)io;
	return (int64_t)(uv_hrtime() / 1000) + 1;
}

static int64_t unix_us(struct rg__io *io)
{
	struct timespec now;

	(void)io;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static struct rg__uv_io *io_of(const struct rg__uv_timer *timer)
{
	return (struct rg__uv_io *)timer->timer.io;
}

static void timer_fired(uv_timer_t *handle);

static void start(struct rg__uv_timer *timer)
{
	int64_t left_us = timer->at_us - now_us(timer->timer.io);
	int64_t left_ms = left_us <= 0 ? 1 : (left_us - 1) / 1000 + 1;

	uv_update_time(timer->handle.loop);
	uv_timer_start(&timer->handle, timer_fired, (uint64_t)(left_ms > LONGEST_SLEEP_MS ? LONGEST_SLEEP_MS : left_ms), 0);
}

static void timer_fired(uv_timer_t *handle)
{
	struct rg__uv_timer *timer = handle->data;

	if (now_us(timer->timer.io) < timer->at_us)
		start(timer);
	else
		timer->timer.fired(timer->timer.user);
}

static void not_due(struct rg__uv_timer *timer)
{
	if (timer->is_due)
		DL_DELETE(io_of(timer)->due, timer);
	timer->is_due = false;
}

static void deliver_due(struct rg__uv_io *uv)
{
	uv->turn++;
	while (!uv->freed && uv->due && uv->due->due_turn < uv->turn) {
		struct rg__uv_timer *timer = uv->due;

		not_due(timer);
		timer->timer.fired(timer->timer.user);
	}
}

static struct rg__timer *timer_new(struct rg__io *io, void (*fired)(void *user), void *user)
{
	struct rg__uv_io *uv = (struct rg__uv_io *)io;
	struct rg__uv_timer *timer = rg__calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	timer->timer = (struct rg__timer){io, fired, user};
	uv_timer_init(uv->loop, &timer->handle);
	timer->handle.data = timer;
	rg__uv_handle_opened(uv);
	return &timer->timer;
}

static void timer_clear(struct rg__timer *timer)
{
	struct rg__uv_timer *uv_timer = (struct rg__uv_timer *)timer;

	not_due(uv_timer);
	uv_timer_stop(&uv_timer->handle);
}

static void timer_set(struct rg__timer *timer, int64_t at_us)
{
	struct rg__uv_timer *uv_timer = (struct rg__uv_timer *)timer;
	struct rg__uv_io *uv = io_of(uv_timer);

	uv_timer->at_us = at_us;
	if (at_us > now_us(timer->io)) {
		not_due(uv_timer);
		start(uv_timer);
		return;
	}
	uv_timer_stop(&uv_timer->handle);
	if (uv_timer->is_due)
		return;
	uv_timer->is_due = true;
	uv_timer->due_turn = uv->turn;
	DL_APPEND(uv->due, uv_timer);
	uv_async_send(&uv->async);
}

static void timer_closed(uv_handle_t *handle)
{
	struct rg__uv_timer *timer = handle->data;
	struct rg__uv_io *uv = io_of(timer);

	rg__free(timer);
	rg__uv_handle_closed(uv);
}

static void timer_free(struct rg__timer *timer)
{
	struct rg__uv_timer *uv_timer = (struct rg__uv_timer *)timer;

	not_due(uv_timer);
	uv_close((uv_handle_t *)&uv_timer->handle, timer_closed);
}

/* --- The io itself ------------------------------------------------------------------------------------------------ */

static const struct rg__io_ops uv_ops = {
	.now_us = now_us,
	.unix_us = unix_us,
	.timer_new = timer_new,
	.timer_set = timer_set,
	.timer_clear = timer_clear,
	.timer_free = timer_free,
	.resolve = rg__uv_resolve,
	.resolve_cancel = rg__uv_resolve_cancel,
	.connect = rg__uv_tcp_connect,
};

void rg__uv_handle_opened(struct rg__uv_io *uv)
{
	uv->handles++;
}

void rg__uv_handle_closed(struct rg__uv_io *uv)
{
	if (--uv->handles == 0 && uv->freed)
		rg__free(uv);
}

/* Each part stops by itself when the io is freed inside one of the callbacks; the memory stays until the handle
 * closes. */
static void async_fired(uv_async_t *async)
{
	struct rg__uv_io *uv = async->data;

	rg__uv_mailbox_deliver(uv);
	if (!uv->freed)
		rg__uv_tcp_deliver(uv);
	if (!uv->freed)
		deliver_due(uv);
	if (!uv->freed && atomic_exchange(&uv->wakeup_wanted, false) && uv->woken)
		uv->woken(uv->user);
}

int rg__uv_io_new(uv_loop_t *loop, void (*woken)(void *user), void *user, struct rg__io **ret_io)
{
	struct rg__uv_io *uv = rg__calloc(1, sizeof(*uv));
	int err;

	if (!uv)
		return UV_ENOMEM;
	uv->io.ops = &uv_ops;
	uv->loop = loop;
	uv->woken = woken;
	uv->user = user;
	uv->mailbox = rg__uv_mailbox_new(uv);
	err = uv->mailbox ? uv_async_init(loop, &uv->async, async_fired) : UV_ENOMEM;
	if (err) {
		if (uv->mailbox)
			rg__uv_mailbox_close(uv->mailbox);
		rg__free(uv);
		return err;
	}
	uv->async.data = uv;
	rg__uv_handle_opened(uv);
	*ret_io = &uv->io;
	return 0;
}

void rg__uv_io_wakeup(struct rg__io *io)
{
	struct rg__uv_io *uv = (struct rg__uv_io *)io;

	atomic_store(&uv->wakeup_wanted, true);
	uv_async_send(&uv->async);
}

static void async_closed(uv_handle_t *handle)
{
	rg__uv_handle_closed(handle->data);
}

void rg__uv_io_free(struct rg__io *io)
{
	struct rg__uv_io *uv = (struct rg__uv_io *)io;

	if (!io)
		return;
	uv->freed = true;
	rg__uv_mailbox_close(uv->mailbox);
	uv_close((uv_handle_t *)&uv->async, async_closed);
}
