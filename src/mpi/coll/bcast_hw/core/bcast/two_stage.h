/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: one broadcast at one rank (Hoefler, Siebert, Rehm 2007, section 2).
 *
 * Stage 1: the root multicasts the message in fragments, unreliably. Stage 2: the ring completes it
 * over reliable lanes; rank r - 1 serves rank r (mod p), and nobody serves the root. There are two
 * ways to serve:
 *   push  the paper's: a rank forwards every fragment once, as soon as it has it, however it came.
 *   pull  a rank forwards a fragment once, when its successor asks for it by NACK. A rank sends
 *         NACK for what is missing when a later fragment of the broadcast has come (gap), when
 *         nothing more comes in time (tail), when a later broadcast has come, or when its own
 *         successor asks. The predecessor sends what it has at once and the rest as it comes. Lanes
 *         are reliable, so no fragment is requested twice. A rank that has received nothing cannot
 *         name fragments: its NACK is for all. The root may only be late. So if the predecessor
 *         then receives a long broadcast by multicast, or is just receiving it, the NACK is void; a
 *         rank that got nothing repeats it, less and less often.
 *
 * A rail on which nothing came of late although it was due (core/flow/loss_estimate.h) does not
 * count: "later" and the tail wait are those of the other rails. Without other rails, a rank sends
 * NACK as soon as it calls the broadcast, with NO_MULTICAST: the predecessor is not to count on the
 * multicast either.
 *
 * If neighbours have lost the same fragment, many ranks may have, and the ring would bring it to
 * one after the other. A rank that receives a NACK for a fragment it lacks too, or that has
 * requested everything in vain, sends ROOT_NACK. The root multicasts that once more: fragments by
 * name, or all of a few. The ring goes on meanwhile, so a fragment that is lost again comes that
 * way. Of many ranks only a random few send ROOT_NACK.
 *
 * The predecessor may compute, and then it does not answer. A rank that has received nothing for
 * two waits of flow/rtt.h (eight while it knows nothing) asks other members by SEEK, more and more
 * of them (seek.h). A member that has some of the fragments sends OFFER, to at most four seeking
 * ranks at a time. On SEEK with AT_ONCE it sends those that it has then. It neither asks on for a
 * fragment nor remembers what it does not have. Ranks seek with push as well, since each waits for
 * its predecessor alone.
 *
 * Roots may multicast at the same time: a broadcast is apart if its root had not all of those
 * before it when it began. Its fragments say nothing of other roots' earlier broadcasts; they may
 * overtake each other. They say how far its own root is, on that rail.
 *
 * Fragments may be spread over rails, each of which keeps order, but not among each other. The root
 * chooses the rail of each fragment, and each fragment names the rails in use. "Later" then means
 * that each of those has brought something later. The tail wait does not end while a rail that may
 * still bring some of the broadcast brings what was sent before. The last fragment of a long
 * message goes once more on every rail, so that a loss shows at once.
 *
 * Example, pull, p = 4, root 0, fragments 0 1 2, fragment 1 lost on its way to rank 2:
 *   0: cast 0, cast 1, cast 2
 *   1: 0 1 2 come: done      3: 0 1 2 come: done
 *   2: 0 comes; 2 comes: gap below 2, request {1} to rank 1; rank 1 sends 1: done
 * Cost in LogGP terms without loss, m fragments: L + (m - 1)g + 2o for any p; push adds per rank
 * one send that nobody waits for. A loss seen by a gap adds one round trip to the predecessor, or d
 * round trips where the d ranks before it lost it too.
 *
 *          post as root                     post as member
 *   EMPTY/UNEXPECTED -> HOLD   EMPTY/UNEXPECTED ---------------> WAIT --all here--> DONE
 *     |                  | delay over               STORED ---post----------->  ^
 *     | message          v                            ^                         |
 *     +------> UNEXPECTED    CAST --all fragments cast-----|-------------------------+
 *                |________all here____________________|
 * DONE goes back to EMPTY (reset) when every member has consumed the broadcast:
 * core/flow/channel.h. A broadcast that is called another way is BYPASSED, from EMPTY, or from
 * UNEXPECTED or STORED if someone lied, until then.
 *
 * Invariants (hwmc_two_stage_check): n_got counts got; sent is within got and within wanted; given
 * is within got, and empty unless somebody is given to; only WAIT seeks; DONE, STORED, HOLD and
 * CAST have every fragment, BYPASSED and EMPTY none; only UNEXPECTED and WAIT have a tail deadline,
 * and none when the rest is requested; what every rail has passed is requested.
 */
#ifndef HWMC_CORE_BCAST_TWO_STAGE_H_INCLUDED
#define HWMC_CORE_BCAST_TWO_STAGE_H_INCLUDED

#include "../base/counts.h"
#include "../base/frags.h"
#include "../base/msg.h"
#include "../flow/rtt.h"
#include "../flow/tail.h"
#include "seek.h"
#include "../flow/loss_estimate.h"

enum hwmc_phase {
    HWMC_EMPTY,      /* nothing known of this broadcast */
    HWMC_UNEXPECTED, /* something came; the program has not called it yet */
    HWMC_STORED,     /* all here; the program has not called it yet */
    HWMC_WAIT,       /* member: called, fragments missing */
    HWMC_HOLD,       /* root: called, stage 1 delayed */
    HWMC_CAST,       /* root: stage 1 under way */
    HWMC_DONE,       /* called and all here; may still serve the successor */
    HWMC_BYPASSED    /* called, and not multicast: nothing of it is here */
};

/* A request made when nothing was known of a broadcast holds for so many fragments. */
#define HWMC_STANDING_FRAGS 4u

/* Offers that a rank makes at a time; who gets none asks others, and then again. */
#define HWMC_ASKERS 4u

/* What a root has multicast may wait in its host for so long. */
#define HWMC_QUEUE_NS UINT64_C(32000000)

/* What the broadcasts of a communicator share at one rank. */
struct hwmc_ring {
    uint32_t size;         /* ranks, 1 or more */
    uint32_t rank;         /* below size */
    bool push;             /* stage 2, of machines that are made now: by push or pull */
    uint32_t frag_bytes;   /* payload of a full fragment, 1 or more */
    uint32_t max_frags;    /* of one broadcast, 1 or more */
    struct hwmc_rtt rtt;   /* to the predecessor, and to others that were asked */
    struct hwmc_tail tail; /* from calls to first fragments */
    uint8_t rails;         /* of the last fragment that came */
    uint8_t anew;          /* rails that have begun anew since the broadcasts that are reset now */
    struct hwmc_loss_estimate watch; /* of each rail */
    uint64_t seen[HWMC_RAIL_BITS];   /* the latest fragment that came on each rail: its place; of
                                        broadcasts that are not apart */
    uint64_t heard[HWMC_RAIL_BITS];  /* ns at which one came */
    uint64_t gap;                    /* ns between two of one message, at most, of late */
    bool more;                       /* of the last one that came: the message goes on */
    struct hwmc_counts *counts;
};

/* The message with which the chosen member lets the root begin. */
enum hwmc_ready {
    HWMC_READY_NONE,
    HWMC_READY_DUE, /* member: the root waits for this rank's, not yet sent */
    HWMC_READY_GOT  /* root, or nobody knows yet: it is here */
};

/* This rank's question for all of a broadcast. */
enum hwmc_ask_all {
    HWMC_ASK_ALL_NONE,
    HWMC_ASK_ALL_DUE, /* to be sent, if the number of fragments is unknown then */
    HWMC_ASK_ALL_OUT
};

/* The successor's. */
enum hwmc_want_all {
    HWMC_WANT_ALL_NONE,
    HWMC_WANT_ALL,
    HWMC_WANT_ALL_NO_MULTICAST /* it does not count on multicast */
};

/* Of a broadcast of which nothing is known: what is to be done about all of it. */
struct hwmc_unknown {
    enum hwmc_ask_all ask;
    enum hwmc_want_all want;
    bool late; /* EMPTY: all of it would have come by now, if it is multicast at all */
    bool told; /* ROOT_NACK for all is out, or was not to be */
};

struct hwmc_two_stage {
    /* The broadcast. */
    enum hwmc_phase phase;
    enum hwmc_ready ready;
    uint64_t bid;
    bool push;          /* stage 2, otherwise pull */
    bool more;          /* the message goes on in the next broadcast; with frags */
    bool repaired;      /* a fragment came over the lane */
    uint8_t rails;      /* root: to be used; member: used, 0 until known */
    uint32_t root;      /* meaningful once frags > 0 or called */
    uint32_t frags;     /* 0 until known */
    uint32_t bytes;     /* meaningful once frags > 0 */
    uint32_t n_got;     /* fragments here */
    uint64_t *got;      /* which; this and the other maps are bitmaps of frags bits */
    uint64_t called_at; /* WAIT: ns at which the program called it */
    uint64_t moved_at;  /* ns at which the last fragment came or was cast; 0: none yet */

    /* At its root. */
    uint8_t flags;       /* of its fragments by multicast: HWMC_FLAG_APART, _DIRECT */
    uint32_t next_cast;  /* fragments below are multicast */
    uint32_t again;      /* fragments to be multicast once more */
    uint8_t ends;        /* rails that are to bring the last fragment once more */
    uint64_t hold_until; /* HOLD: ns; NEVER when it waits for READY */

    /* At a member: what is missing. */
    uint8_t questions;  /* how often all was asked for in vain */
    uint32_t passed;    /* fragments below would have come: all rails in use are beyond; <= frags */
    uint32_t ask_below; /* missing fragments below are to be asked for */
    uint32_t lost;      /* missing fragments below are lost, not only late; <= ask_below */
    struct hwmc_unknown unknown;
    uint16_t heard[HWMC_RAIL_BITS]; /* fragments that came on each rail */
    uint16_t reach[HWMC_RAIL_BITS]; /* apart: fragments below would have come, on each rail */
    uint64_t tail_at;      /* UNEXPECTED, WAIT: when to ask for the rest; NEVER when asked */
    uint64_t asked_at;     /* ns; 0 before the first request */
    struct hwmc_seek seek; /* WAIT: others to be asked */
    uint64_t *asked;       /* of the predecessor; root: multicast once more, or to be */
    uint64_t *urged;  /* pull: to be asked for because the successor asked; root: not yet again */
    uint64_t *told;   /* pull: to the root */
    uint64_t *sought; /* of others, as of the last message to one */

    /* For the successor, and for members that ask further. */
    bool at_once;                 /* what the successor asked for was here when it asked */
    uint64_t *wanted;             /* by the successor; push: all */
    uint64_t *sent;               /* to the successor */
    uint32_t askers[HWMC_ASKERS]; /* of this rank, to be made an offer; the first num_askers */
    uint32_t num_askers;
    uint32_t give_to; /* who is to get `given`; NOBODY */
    uint64_t *given;  /* still to be sent to give_to */
};

/* Bitmap memory one machine needs, in 64-bit words. */
uint32_t hwmc_two_stage_words(uint32_t max_frags);

/* Makes an EMPTY machine for `bid` on `words`, memory of hwmc_two_stage_words(max_frags) words
 * that stays the caller's. */
void hwmc_two_stage_init(struct hwmc_two_stage *m, uint64_t bid, uint64_t *words,
                         const struct hwmc_ring *ring);

/* DONE or BYPASSED -> EMPTY for another broadcast, and what did not come of this one by multicast
 * is lost; or nothing is known of this one, and the machine is EMPTY. */
void hwmc_two_stage_reset(struct hwmc_two_stage *m, uint64_t bid, struct hwmc_ring *ring);

/* The program calls this broadcast as root: `bytes` are in place for all fragments; `more`: the
 * next broadcast continues the message; `rails`: that carry it, one or more. Stage 1 starts at
 * `hold_until` ns, or on READY if that is NEVER. EMPTY or UNEXPECTED only; STORED if someone lied.
 * */
void hwmc_two_stage_post_root(struct hwmc_two_stage *m, uint32_t bytes, bool more, uint8_t rails,
                              uint64_t hold_until, struct hwmc_ring *ring, uint64_t now);

/* The program calls this broadcast as a member. `chosen`: the root waits for this rank's READY.
 * EMPTY, UNEXPECTED or STORED only. */
void hwmc_two_stage_post_member(struct hwmc_two_stage *m, uint32_t root, bool chosen,
                                struct hwmc_ring *ring, uint64_t now);

/* The program calls this broadcast, and it goes another way: no message of it is for this machine.
 * EMPTY only; UNEXPECTED or STORED if someone lied. */
void hwmc_two_stage_post_bypassed(struct hwmc_two_stage *m, const struct hwmc_ring *ring);

/* DATA, NACK, SEEK, OFFER or READY is one that this rank can be sent in some broadcast: sender,
 * kind of way and fields fit. One that is not changes nothing. */
bool hwmc_two_stage_formed(const struct hwmc_msg *msg, const struct hwmc_ring *ring);

/* A fragment came. PLACE: the caller copies its payload before the next call. */
enum hwmc_verdict hwmc_two_stage_on_data(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                         struct hwmc_ring *ring, uint64_t now);

/* The successor asks. TAKEN or BAD. */
enum hwmc_verdict hwmc_two_stage_on_nack(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                         struct hwmc_ring *ring, uint64_t now);

/* A rank and its successor lack fragments. TAKEN or BAD. */
enum hwmc_verdict hwmc_two_stage_on_root_nack(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                              const struct hwmc_ring *ring);

/* DATA by lane, or OFFER, is from one that this rank has asked for something of this broadcast, or
 * serves it. */
bool hwmc_two_stage_expects(const struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                            const struct hwmc_ring *ring);

/* A member asks further. TAKEN or BAD. */
enum hwmc_verdict hwmc_two_stage_on_seek(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                         const struct hwmc_ring *ring, uint64_t now);

/* A member that was asked has something of it; expected. TAKEN or BAD. */
enum hwmc_verdict hwmc_two_stage_on_offer(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                          struct hwmc_ring *ring, uint64_t now);

/* The chosen member is ready. TAKEN or BAD. */
enum hwmc_verdict hwmc_two_stage_on_ready(struct hwmc_two_stage *m);

/* A later broadcast came: whatever is missing here is late or lost, unless a rail is behind. While
 * nothing of it is known it may be one that is not multicast: that is remembered until it is
 * called. */
void hwmc_two_stage_on_later(struct hwmc_two_stage *m, struct hwmc_ring *ring);

/* The root of this one, which is known, multicast a later broadcast on that rail: what was to come
 * on it of this one has come or is lost, whatever other roots do. */
void hwmc_two_stage_on_passed(struct hwmc_two_stage *m, uint32_t rail, struct hwmc_ring *ring);

void hwmc_two_stage_on_timer(struct hwmc_two_stage *m, struct hwmc_ring *ring, uint64_t now);

/* ns or NEVER. */
uint64_t hwmc_two_stage_next_timer(const struct hwmc_two_stage *m);

/* Fills `tx` and returns 1, or returns 0 when there is nothing to send, or no room for it. The
 * bitmap that `tx` has stays valid until the next call on this machine. */
int hwmc_two_stage_next_send(struct hwmc_two_stage *m, struct hwmc_ring *ring,
                             struct hwmc_room room, struct hwmc_msg *tx, uint64_t now);

/* The rails on which this broadcast's next fragment can go now. */
static inline uint32_t hwmc_two_stage_room(const struct hwmc_two_stage *m, struct hwmc_room room)
{
    bool several = m->rails & (m->rails - 1);

    if (m->ends && m->again == 0)
        return m->ends & room.each;

    return m->rails & (several ? room.best : room.each);
}

/* Stage 1 is under way here, or something of it is to be repeated. */
static inline bool hwmc_two_stage_casts(const struct hwmc_two_stage *m)
{
    return m->phase == HWMC_CAST || m->again > 0;
}

/* DONE, and about to be consumed: rails on which nothing of it came are taken note of. */
void hwmc_two_stage_consumed(const struct hwmc_two_stage *m, struct hwmc_ring *ring);

/* The fragment after the latest one that came on this rail, which may be one more than its
 * broadcast has. */
void hwmc_two_stage_after_seen(const struct hwmc_ring *ring, uint32_t rail, uint64_t *bid,
                               uint32_t *index);

/* All fragments are here and nothing of stage 1 is left to do: the program's call can return. */
static inline bool hwmc_two_stage_done(const struct hwmc_two_stage *m)
{
    return m->phase == HWMC_DONE;
}

/* Asserts every invariant above. */
void hwmc_two_stage_check(const struct hwmc_two_stage *m, const struct hwmc_ring *ring);

#endif /* HWMC_CORE_BCAST_TWO_STAGE_H_INCLUDED */
