/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * events: see events.h.
 */
#include "events.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct hwmc_verbs_listener {
    struct watcher *watcher;
    struct hwmc_verbs_listener *next; /* of the watcher's */
    int fd;                           /* eventfd: readable exactly while `waiting` */
    atomic_bool waiting;              /* num > 0 or lost */
    bool lost;                        /* events that came after those in the ring */
    unsigned first;                   /* of the ring: the oldest */
    unsigned num;                     /* in the ring */
    struct hwmc_verbs_event ring[HWMC_VERBS_EVENTS_MAX];
};

/* The thread of a context. */
struct watcher {
    struct ibv_context *context;
    struct watcher *next;
    struct hwmc_verbs_listener *listeners; /* at least one but while opening and closing */
    pthread_t thread;
    int stop; /* eventfd: readable when the thread is to end */
};

/* Held by who opens or closes, so that a context never has two threads; guards the list of
 * watchers. */
static pthread_mutex_t change_lock = PTHREAD_MUTEX_INITIALIZER;
static struct watcher *all_watchers;

/* Guards the lists of listeners and their rings; taken last. */
static pthread_mutex_t listen_lock = PTHREAD_MUTEX_INITIALIZER;

static void wake_listener(struct hwmc_verbs_listener *l)
{
    if (!atomic_exchange(&l->waiting, true))
        eventfd_write(l->fd, 1);
}

/* NULL: events are lost. */
static void note_event(struct hwmc_verbs_listener *l, const struct hwmc_verbs_event *event)
{
    if (event == NULL || l->lost || l->num == HWMC_VERBS_EVENTS_MAX)
        l->lost = true;
    else
        l->ring[(l->first + l->num++) % HWMC_VERBS_EVENTS_MAX] = *event;
    wake_listener(l);
}

static void note_all(struct watcher *w, const struct hwmc_verbs_event *event)
{
    pthread_mutex_lock(&listen_lock);
    for (struct hwmc_verbs_listener *l = w->listeners; l != NULL; l = l->next)
        note_event(l, event);
    pthread_mutex_unlock(&listen_lock);
}

static struct hwmc_verbs_event event_of(const struct ibv_async_event *e)
{
    struct hwmc_verbs_event event = {.type = e->event_type};

    switch (e->event_type) {
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            event.qp_num = e->element.qp->qp_num;
            break;
        case IBV_EVENT_PORT_ACTIVE:
        case IBV_EVENT_PORT_ERR:
        case IBV_EVENT_LID_CHANGE:
        case IBV_EVENT_PKEY_CHANGE:
        case IBV_EVENT_SM_CHANGE:
        case IBV_EVENT_CLIENT_REREGISTER:
        case IBV_EVENT_GID_CHANGE:
            event.port = (uint8_t) e->element.port_num;
            break;
        default:
            break;
    }
    return event;
}

/* A queue pair cannot be destroyed before its events are acknowledged, so its number is read before
 * and nothing of it is kept. */
static void *watch_events(void *arg)
{
    struct watcher *w = arg;
    struct pollfd fds[2] = {{.fd = w->stop, .events = POLLIN},
                            {.fd = w->context->async_fd, .events = POLLIN}};

    while (fds[0].revents == 0) {
        struct ibv_async_event e;

        if (poll(fds, 2, -1) <= 0 || fds[1].revents == 0)
            continue;
        if (ibv_get_async_event(w->context, &e) == 0) {
            struct hwmc_verbs_event event = event_of(&e);

            note_all(w, &event);
            ibv_ack_async_event(&e);
        } else if (fds[1].revents & (POLLERR | POLLHUP | POLLNVAL)) { /* the device is gone */
            fds[1].fd = -1;
            note_all(w, NULL);
        }
    }
    return NULL;
}

static struct watcher *find_watcher(const struct ibv_context *context)
{
    struct watcher *w = all_watchers;

    while (w != NULL && w->context != context)
        w = w->next;
    return w;
}

static int start_thread(struct watcher *w)
{
    sigset_t all, before;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    e = pthread_create(&w->thread, NULL, watch_events, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}

/* Adds a watcher without listeners. NULL: a limit of the system. */
static struct watcher *add_watcher(struct ibv_context *context)
{
    struct watcher *w = calloc(1, sizeof(*w));
    int flags = fcntl(context->async_fd, F_GETFL);

    if (w == NULL)
        return NULL;
    w->context = context;
    w->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (w->stop < 0)
        goto fail;
    if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        start_thread(w) != 0) {
        close(w->stop);
        goto fail;
    }
    w->next = all_watchers;
    all_watchers = w;
    return w;

fail:
    free(w);
    return NULL;
}

static void remove_watcher(struct watcher *w)
{
    struct watcher **at = &all_watchers;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    eventfd_write(w->stop, 1);
    pthread_join(w->thread, NULL);
    close(w->stop);
    free(w);
}

static void add_listener(struct watcher *w, struct hwmc_verbs_listener *l)
{
    pthread_mutex_lock(&listen_lock);
    l->watcher = w;
    l->next = w->listeners;
    w->listeners = l;
    pthread_mutex_unlock(&listen_lock);
}

static void remove_listener(struct watcher *w, const struct hwmc_verbs_listener *l)
{
    struct hwmc_verbs_listener **at = &w->listeners;

    pthread_mutex_lock(&listen_lock);
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    pthread_mutex_unlock(&listen_lock);
}

int hwmc_verbs_events_open(struct ibv_context *context, struct hwmc_verbs_listener **listener)
{
    struct hwmc_verbs_listener *l = calloc(1, sizeof(*l));
    struct watcher *w;

    if (l == NULL)
        return HWMC_ERR_NOMEM;
    l->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (l->fd < 0)
        goto fail;
    pthread_mutex_lock(&change_lock);
    w = find_watcher(context);
    if (w == NULL)
        w = add_watcher(context);
    if (w != NULL)
        add_listener(w, l);
    pthread_mutex_unlock(&change_lock);
    if (w == NULL)
        goto fail;
    *listener = l;
    return HWMC_OK;

fail:
    if (l->fd >= 0)
        close(l->fd);
    free(l);
    return HWMC_ERR_LIMIT;
}

int hwmc_verbs_events_take(struct hwmc_verbs_listener *l, struct hwmc_verbs_event *event)
{
    int got = 1;

    if (!atomic_load(&l->waiting))
        return 0;
    pthread_mutex_lock(&listen_lock);
    if (l->num > 0) {
        *event = l->ring[l->first];
        l->first = (l->first + 1) % HWMC_VERBS_EVENTS_MAX;
        l->num--;
    } else {
        l->lost = false;
        got = HWMC_ERR_LIMIT;
    }
    if (l->num == 0 && !l->lost) {
        eventfd_t drained;

        atomic_store(&l->waiting, false);
        eventfd_read(l->fd, &drained);
    }
    pthread_mutex_unlock(&listen_lock);
    return got;
}

int hwmc_verbs_events_fd(const struct hwmc_verbs_listener *l)
{
    return l->fd;
}

void hwmc_verbs_events_close(struct hwmc_verbs_listener *l)
{
    struct watcher *w = l->watcher;

    pthread_mutex_lock(&change_lock);
    remove_listener(w, l);
    if (w->listeners == NULL)
        remove_watcher(w);
    pthread_mutex_unlock(&change_lock);
    close(l->fd);
    free(l);
}
