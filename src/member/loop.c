/* SPDX-License-Identifier: Apache-2.0 */
/* A member's own libuv loop, and how it fits into anybody else's. */
#include "base/alloc.h"
#include "base/error.h"
#include "link/uv_io.h"
#include "member/internal.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

struct rg__loop {
	uv_loop_t uv;
	struct rg__io *io;
	rg_member *member; /* NULL while it is being made */
};

static void woken(void *user)
{
	struct rg__loop *loop = user;

	if (loop->member && loop->member->woken)
		loop->member->woken(loop->member->woken_user);
}

static void end(struct rg__loop *loop)
{
	if (loop->io)
		rg__uv_io_free(loop->io);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	uv_loop_close(&loop->uv);
	rg__free(loop);
}

void rg__loop_free(rg_member *member)
{
	end(member->loop);
}

/* Members of one process must not draw the same jitter. */
static uint64_t seed_of(const struct rg__loop *loop)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 32 ^
	       (uint64_t)(uintptr_t)loop;
}

static rg_err no_loop(int uv_err, rg_error *error)
{
	return rg__fail(error, uv_err == UV_ENOMEM ? RG_ERR_MEMORY : RG_ERR_SYSTEM, "no event loop: %s", uv_strerror(uv_err));
}

rg_err rg_member_new(rg_member **ret_member, const rg_conf *conf, const char *protocol_type, rg_error *error)
{
	struct rg__loop *loop = rg__calloc(1, sizeof(*loop));
	rg_err err;

	if (!loop)
		return rg__fail(error, RG_ERR_MEMORY, "out of memory");
	if ((err = uv_loop_init(&loop->uv))) {
		rg__free(loop);
		return no_loop(err, error);
	}
	if ((err = rg__uv_io_new(&loop->uv, woken, loop, &loop->io))) {
		end(loop);
		return no_loop(err, error);
	}
	err = rg__member_new_on(loop->io, conf, protocol_type, seed_of(loop), NULL, NULL, &loop->member, error);
	if (err) {
		end(loop);
		return err;
	}
	loop->member->loop = loop;
	*ret_member = loop->member;
	return RG_OK;
}

int rg_member_fd(const rg_member *member)
{
	return member->loop ? uv_backend_fd(&member->loop->uv) : -1;
}

int rg_member_timeout_ms(const rg_member *member)
{
	if (!member->loop || member->owed_count)
		return 0;
	uv_update_time(&member->loop->uv);
	return uv_backend_timeout(&member->loop->uv);
}

void rg_member_dispatch(rg_member *member)
{
	if (member->loop)
		uv_run(&member->loop->uv, UV_RUN_NOWAIT);
}

static void enough(uv_timer_t *timer)
{
	(void)timer;
}

void rg_member_wait(rg_member *member, int timeout_ms)
{
	uv_timer_t limit;

	if (!member->loop)
		return;
	if ((timeout_ms <= 0 && timeout_ms != -1) || member->owed_count) {
		rg_member_dispatch(member);
		return;
	}
	if (timeout_ms == -1 || timeout_ms == INT_MAX) { /* without a limit: a timer costs a second look at the descriptors, each time */
		uv_run(&member->loop->uv, UV_RUN_ONCE);
		return;
	}
	uv_timer_init(&member->loop->uv, &limit);
	uv_timer_start(&limit, enough, (uint64_t)timeout_ms, 0);
	uv_run(&member->loop->uv, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&limit, NULL);
	uv_run(&member->loop->uv, UV_RUN_NOWAIT); /* closes the timer, which must not outlive this call */
}

void rg_member_wakeup(rg_member *member)
{
	if (member->loop)
		rg__uv_io_wakeup(member->loop->io);
}
