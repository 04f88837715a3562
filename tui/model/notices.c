#include "tui/model/notices.h"

#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"

static void
remove_at(struct notices *notices, size_t at)
{
    free((char *)notices->list[at].text);
    notices->count--;
    memmove(&notices->list[at], &notices->list[at + 1],
            (notices->count - at) * sizeof notices->list[0]);
}

void
notices_destroy(struct notices *notices)
{
    while (notices->count > 0) {
        remove_at(notices, notices->count - 1);
    }
}

static size_t
find(const struct notices *notices, uint64_t id)
{
    size_t at = 0;
    while (at < notices->count && notices->list[at].id != id) {
        at++;
    }
    return at;
}

bool
notices_apply(struct notices *notices, const struct notice *notice, struct stamp at)
{
    size_t place = find(notices, notice->id);
    if (notice->text.length == 0) {
        if (place < notices->count) {
            remove_at(notices, place);
        }
        return true;
    }
    char *text =
        text_escaped_within(notice->text.bytes, notice->text.length, MESSAGE_TEXT_MAX);
    if (text == NULL) {
        return false;
    }
    if (place < notices->count) {
        free((char *)notices->list[place].text);
    } else if (notices->count == MODEL_NOTICES_MAX) {
        remove_at(notices, 0);
        place = notices->count++;
    } else {
        notices->count++;
    }
    notices->list[place] = (struct model_notice){notice->id, notice->severity, text, at};
    return true;
}

bool
notices_copy(struct notices *copy, const struct notices *notices)
{
    copy->count = 0;
    for (size_t i = 0; i < notices->count; i++) {
        copy->list[i] = notices->list[i];
        copy->list[i].text = strdup(notices->list[i].text);
        if (copy->list[i].text == NULL) {
            notices_destroy(copy);
            return false;
        }
        copy->count++;
    }
    return true;
}
