#include "tui/doctor/doctor.h"

#include <jansson.h>

#include "tui/doctor/checks.h"

static const struct {
    const char *utf8;
    const char *ascii;
    const char *word;
} states[] = {
    [DOCTOR_GOOD] = {"✓", "ok", "good" },
    [DOCTOR_LACKS] = {"–", "--", "lacks"},
    [DOCTOR_BAD] = {"✗", "!!", "bad"  },
};

struct doctor_finding *
doctor_add(struct doctor *doctor, const char *name, enum doctor_state state)
{
    doctor->count += doctor->count < DOCTOR_FINDINGS_MAX;
    struct doctor_finding *finding = &doctor->findings[doctor->count - 1];
    *finding = (struct doctor_finding){.name = name, .state = state};
    return finding;
}

void
doctor_examine(struct doctor *doctor)
{
    doctor->count = 0;
    doctor_check_ruby(doctor);
    doctor_check_machine(doctor);
    doctor_check_terminal(doctor);
    doctor_check_parts(doctor);
}

bool
doctor_works(const struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++) {
        if (doctor->findings[i].state == DOCTOR_BAD) {
            return false;
        }
    }
    return true;
}

bool
doctor_print(const struct doctor *doctor, bool ascii, FILE *out)
{
    for (size_t i = 0; i < doctor->count; i++) {
        const struct doctor_finding *finding = &doctor->findings[i];
        fprintf(out, "%s %-11s %s\n",
                ascii ? states[finding->state].ascii : states[finding->state].utf8,
                finding->name, finding->words);
        if (*finding->remedy) {
            fprintf(out, "%*s%s\n", ascii ? 15 : 14, "", finding->remedy);
        }
    }
    fprintf(out, "\n%s\n",
            doctor_works(doctor) ? "memtop works here."
                                 : "memtop does not work here: see above what to do.");
    return fflush(out) == 0 && !ferror(out);
}

static json_t *
as_json(const struct doctor_finding *finding)
{
    return json_pack("{s:s, s:s, s:s, s:s*}", "name", finding->name, "state",
                     states[finding->state].word, "words", finding->words, "remedy",
                     *finding->remedy ? finding->remedy : NULL);
}

bool
doctor_write_json(const struct doctor *doctor, FILE *out)
{
    json_t *checks = json_array();
    bool good = checks != NULL;
    for (size_t i = 0; i < doctor->count && good; i++) {
        good = json_array_append_new(checks, as_json(&doctor->findings[i])) == 0;
    }
    json_t *document =
        json_pack("{s:b, s:o}", "works", doctor_works(doctor), "checks", checks);
    good = good && document && json_dumpf(document, out, JSON_INDENT(1)) == 0 &&
           fputc('\n', out) != EOF && fflush(out) == 0;
    json_decref(document);
    return good;
}
