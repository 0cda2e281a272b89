/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * doctor_print: a report, as a table or as JSON (docs/doctor.md).
 */
#include "doctor.h"
#include "info.h"
#include "../../../../../mpi/coll/bcast_hw/stats/json_add.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 96

static const char *const names[] = {
#define X(name, text) text,
    HWMC_DOCTOR_CHECKS(X)
#undef X
};

static const char *name_of_level(enum hwmc_doctor_level level)
{
    static const char *const texts[] = {"ok", "slow", "broken", "-"};

    return texts[level];
}

static void name_rail(const struct hwmc_doctor_case *c, int rail, char *text, size_t room)
{
    const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, 0, rail);

    snprintf(text, room, "%s", p ? p->rail.name : "-");
}

/* "  costs: text", in lines of at most WIDTH columns. */
static void print_part(const char *title, const char *text)
{
    const int indent = 10;
    const char *head = title;

    while (*text != '\0') {
        size_t len = strlen(text);

        if (len > WIDTH - (size_t) indent) {
            for (len = WIDTH - (size_t) indent; len > 0 && text[len] != ' '; len--)
                ;
            if (len == 0)
                len = WIDTH - (size_t) indent;
        }
        printf("   %-*s%.*s\n", indent - 3, head, (int) len, text);
        text += len;
        text += strspn(text, " ");
        head = "";
    }
}

static void print_finding(const struct hwmc_doctor_case *c, const struct hwmc_doctor_finding *f)
{
    char rail[HWMC_RAIL_NAME_MAX] = "";

    if (f->rail >= 0)
        name_rail(c, f->rail, rail, sizeof(rail));
    printf("\n%s: %s%s%s%s%s\n", name_of_level(f->level), names[f->check],
           f->rail >= 0 ? ", rail " : "", rail, f->hosts[0] != '\0' ? ", " : "", f->hosts);
    print_part("what", f->what);
    print_part("costs", f->cost);
    print_part("mend", f->mend);
}

void hwmc_doctor_print(const struct hwmc_doctor_case *c, const struct hwmc_doctor_report *r)
{
    static const char *const ends[] = {
        "nothing that hwmc needs is missing, and nothing slows it",
        "hwmc works here, and something slows it",
        "something that hwmc needs does not work",
    };

    for (int i = 0; i < HWMC_DOCTOR_NUM_CHECKS; i++) {
        int found = 0;

        for (int k = 0; k < r->num; k++)
            found += r->finding[k].check == (enum hwmc_doctor_check) i;
        printf("%-11s %-7s ", names[i], name_of_level(r->level[i]));
        if (found > 0 && i != HWMC_DOCTOR_RAILS && i != HWMC_DOCTOR_START)
            printf("see below\n");
        else
            printf("%s\n", r->said[i]);
    }
    for (int k = 0; k < r->num; k++)
        print_finding(c, &r->finding[k]);
    printf("\n%s\n", ends[hwmc_doctor_status(r)]);
}

/* A list of names with ", " between them, as an array. */
static struct json_object *array_of(const char *list)
{
    struct json_object *array = json_object_new_array();

    while (*list != '\0') {
        const size_t len = strcspn(list, ",");

        json_object_array_add(array, json_object_new_string_len(list, (int) len));
        list += len;
        list += strspn(list, ", ");
    }
    return array;
}

static struct json_object *checks_of(const struct hwmc_doctor_report *r)
{
    struct json_object *all = json_object_new_object();

    for (int i = 0; i < HWMC_DOCTOR_NUM_CHECKS; i++) {
        struct json_object *one = json_object_new_object();

        hwmc_json_text(one, "level",
                       r->level[i] == HWMC_DOCTOR_UNKNOWN ? "unknown" : name_of_level(r->level[i]));
        hwmc_json_text(one, "says", r->said[i]);
        json_object_object_add(all, names[i], one);
    }
    return all;
}

static struct json_object *findings_of(const struct hwmc_doctor_case *c,
                                       const struct hwmc_doctor_report *r)
{
    struct json_object *all = json_object_new_array();

    for (int k = 0; k < r->num; k++) {
        const struct hwmc_doctor_finding *f = &r->finding[k];
        struct json_object *one = json_object_new_object();
        char rail[HWMC_RAIL_NAME_MAX];

        hwmc_json_text(one, "check", names[f->check]);
        hwmc_json_text(one, "level", name_of_level(f->level));
        if (f->rail >= 0) {
            name_rail(c, f->rail, rail, sizeof(rail));
            hwmc_json_text(one, "rail", rail);
        }
        json_object_object_add(one, "hosts", array_of(f->hosts));
        hwmc_json_text(one, "what", f->what);
        hwmc_json_text(one, "costs", f->cost);
        hwmc_json_text(one, "mend", f->mend);
        json_object_array_add(all, one);
    }
    return all;
}

static struct json_object *rails_of(const struct hwmc_doctor_case *c, int host)
{
    struct json_object *all = json_object_new_array();

    for (int rail = 0; rail < c->num_rails; rail++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);
        struct json_object *one;
        char subnet[HWMC_ADDR_SUBNET_MAX];

        if (p == NULL)
            continue;
        one = json_object_new_object();
        hwmc_info_format_subnet(&p->rail, subnet);
        hwmc_json_text(one, "port", p->rail.name);
        hwmc_json_text(one, "address", subnet);
        hwmc_json_number(one, "mtu", p->rail.mtu);
        hwmc_json_number(one, "mbit", p->rail.mbit);
        hwmc_json_number(one, "datagram", p->datagram);
        hwmc_json_number(one, "can_wait", p->window);
        json_object_array_add(all, one);
    }
    return all;
}

static struct json_object *hosts_of(const struct hwmc_doctor_case *c)
{
    struct json_object *all = json_object_new_array();

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_self *s = &c->self[c->prober[host]];
        struct json_object *one = json_object_new_object();

        hwmc_json_text(one, "name", s->host);
        hwmc_json_number(one, "processors", s->online);
        hwmc_json_number(one, "shm_free", s->shm_free);
        json_object_object_add(one, "rails", rails_of(c, host));
        json_object_array_add(all, one);
    }
    return all;
}

void hwmc_doctor_print_json(const struct hwmc_doctor_case *c, const struct hwmc_doctor_report *r)
{
    struct json_object *all = json_object_new_object();

    hwmc_json_text(all, "hwmc", c->self[0].version);
    hwmc_json_number(all, "status", (uint64_t) hwmc_doctor_status(r));
    hwmc_json_number(all, "processes", (uint64_t) c->num);
    json_object_object_add(all, "hosts", hosts_of(c));
    json_object_object_add(all, "checks", checks_of(r));
    json_object_object_add(all, "findings", findings_of(c, r));
    hwmc_json_print(all);
}
