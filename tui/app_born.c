#include "tui/app_born.h"

#include <string.h>

#include "tui/app_command.h"
#include "tui/app_state.h"
#include "tui/app_tree.h"

bool
app_born_shown(const struct app *app)
{
    return app_view_shown(app, &app->born_view.drill.view);
}

void
app_born_init(struct app *app)
{
    born_view_init(&app->born_view, &app->born.facts);
    for (int i = 0; i < BORN_C; i++) {
        app->born.at[i] = (struct player){.tape = app->tape};
        app->born.wanted[i] = MODEL_MARK_NONE;
    }
}

void
app_born_forget(struct app *app)
{
    struct born_facts *facts = &app->born.facts;
    born_classes_destroy(&facts->classes);
    born_paths_destroy(&facts->paths);
    *facts = (struct born_facts){.state = BORN_STATE_NO_FIGURES};
    app->born.model = NULL;
}

static void
leave(struct app *app)
{
    app_born_forget(app);
    for (int i = 0; i < BORN_C; i++) {
        player_destroy(&app->born.at[i]);
    }
}

void
app_born_destroy(struct app *app)
{
    leave(app);
    drill_destroy(&app->born_view.drill);
}

/* Which marks. */

static uint64_t
mark_us(const struct app *app, int mark)
{
    return model_mark(app->scene.model, mark)->at.wall_us;
}

// Whether one mark comes before another: by time, and where that is the same by letter.
static bool
is_before(const struct app *app, int a, int b)
{
    uint64_t a_us = mark_us(app, a);
    uint64_t b_us = mark_us(app, b);
    return a_us < b_us || (a_us == b_us && a < b);
}

// The last mark at or before a time, and before another mark unless that is none.
static int
last_before(const struct app *app, uint64_t wall_us, int other)
{
    int found = MODEL_MARK_NONE;
    for (int mark = 0; mark < MODEL_MARKS_MAX; mark++) {
        if (model_mark(app->scene.model, mark) == NULL || mark_us(app, mark) > wall_us ||
            (other != MODEL_MARK_NONE && !is_before(app, mark, other))) {
            continue;
        }
        if (found == MODEL_MARK_NONE || is_before(app, found, mark)) {
            found = mark;
        }
    }
    return found;
}

// A mark that was asked for, and the one that comes with it by itself.
static void
complete(const struct app *app, uint64_t now_us, int marks[BORN_MOMENTS])
{
    int given = app->born.wanted[BORN_A];
    int last = last_before(app, now_us, MODEL_MARK_NONE);
    if (last == given && last != MODEL_MARK_NONE) {
        last = last_before(app, now_us, given);
    }
    bool swap = last != MODEL_MARK_NONE && is_before(app, last, given);
    marks[BORN_A] = swap ? last : given;
    marks[BORN_B] = swap ? given : last;
}

// The two marks last set before the moment that is shown. Where somebody went to a mark
// that has two before it, those, and what is alive at it.
static void
choose_marks(const struct app *app, int marks[BORN_MOMENTS])
{
    uint64_t now_us = model_time(app->scene.model).wall_us;
    const int *wanted = app->born.wanted;
    for (int i = 0; i < BORN_MOMENTS; i++) {
        marks[i] = MODEL_MARK_NONE;
    }
    if (wanted[BORN_B] != MODEL_MARK_NONE) {
        memcpy(marks, wanted, BORN_C * sizeof *marks);
        return;
    }
    if (wanted[BORN_A] != MODEL_MARK_NONE) {
        complete(app, now_us, marks);
        return;
    }
    int b = last_before(app, now_us, MODEL_MARK_NONE);
    int a = b != MODEL_MARK_NONE ? last_before(app, now_us, b) : b;
    int first = a != MODEL_MARK_NONE ? last_before(app, now_us, a) : a;
    if (app->rewound && first != MODEL_MARK_NONE && mark_us(app, b) == now_us) {
        marks[BORN_C] = b;
        b = a;
        a = first;
    }
    marks[BORN_A] = a != MODEL_MARK_NONE ? a : b;
    marks[BORN_B] = a != MODEL_MARK_NONE ? b : MODEL_MARK_NONE;
}

// The first two there are, when there are two: the moment shown lies before them.
static void
choose_first(const struct app *app, int marks[BORN_MOMENTS])
{
    marks[BORN_A] = marks[BORN_B] = MODEL_MARK_NONE;
    for (int mark = 0; mark < MODEL_MARKS_MAX; mark++) {
        if (model_mark(app->scene.model, mark) == NULL) {
            continue;
        }
        if (marks[BORN_A] == MODEL_MARK_NONE || is_before(app, mark, marks[BORN_A])) {
            marks[BORN_B] = marks[BORN_A];
            marks[BORN_A] = mark;
        } else if (marks[BORN_B] == MODEL_MARK_NONE ||
                   is_before(app, mark, marks[BORN_B])) {
            marks[BORN_B] = mark;
        }
    }
}

static void
take_marks(struct app *app, const int marks[BORN_MOMENTS])
{
    struct born_facts *facts = &app->born.facts;
    for (int i = 0; i < BORN_MOMENTS; i++) {
        bool set = marks[i] != MODEL_MARK_NONE;
        facts->letters[i] = (char)(set ? 'A' + marks[i] : 0);
        facts->wall_us[i] = set ? mark_us(app, marks[i]) : 0;
    }
    facts->wall_us[BORN_C] = model_time(app->scene.model).wall_us;
}

// Which marks the facts are about; false when there are not two.
static bool
find_marks(struct app *app)
{
    int marks[BORN_MOMENTS];
    struct born_facts *facts = &app->born.facts;
    choose_marks(app, marks);
    if (marks[BORN_B] == MODEL_MARK_NONE) {
        choose_first(app, marks);
    }
    take_marks(app, marks);
    facts->state = marks[BORN_A] == MODEL_MARK_NONE                  ? BORN_STATE_NO_MARKS
                   : marks[BORN_B] == MODEL_MARK_NONE                ? BORN_STATE_ONE_MARK
                   : facts->wall_us[BORN_B] > facts->wall_us[BORN_C] ? BORN_STATE_EARLY
                                                                     : BORN_STATE_KNOWN;
    return facts->state == BORN_STATE_KNOWN;
}

/* The three moments. */

// The program at a mark. What was found once stays: a moment of the past does not
// change, but a ring may drop it.
static bool
find_moment(struct app *app, enum born_moment moment)
{
    struct born_facts *facts = &app->born.facts;
    struct player *player = &app->born.at[moment];
    facts->which = moment;
    if (player->model == NULL || player_time(player) != facts->wall_us[moment]) {
        player_destroy(player);
        if (!player_seek(player, facts->wall_us[moment])) {
            facts->state = BORN_STATE_FAILED;
            return false;
        }
    }
    if (player_time(player) != facts->wall_us[moment]) {
        facts->state = BORN_STATE_LOST;
        player_destroy(player);
        return false;
    }
    return true;
}

static bool
find_moments(struct app *app, struct born_question *question)
{
    struct born_facts *facts = &app->born.facts;
    // a probe gives no id twice, and new ids whenever counting begins anew: where ids
    // went on, every birth was counted
    *question = (struct born_question){.counted_ab = true, .counted_bc = true};
    for (int i = 0; i < BORN_C; i++) {
        if (!find_moment(app, (enum born_moment)i)) {
            return false;
        }
        question->at[i] = app->born.at[i].model;
    }
    question->at[BORN_C] = app->scene.model;
    for (int i = 0; i < BORN_MOMENTS; i++) {
        if (model_sample(question->at[i])->mode == MODE_DORMANT) {
            facts->state = BORN_STATE_DORMANT;
            facts->which = (enum born_moment)i;
            return false;
        }
    }
    return true;
}

// After a restart the class has another id.
static void
follow_class(struct app *app)
{
    struct drill *drill = &app->born_view.drill;
    const struct model *model = app->scene.model;
    const struct model_class *class =
        drill->class != 0 ? model_class_find(model, born_view_wants(&app->born_view))
                          : NULL;
    if (drill->class == 0 || (class != NULL && strcmp(class->name, drill->name) == 0)) {
        return;
    }
    for (size_t i = 0; i < model_class_count(model); i++) {
        class = model_class_at(model, i);
        if (class->listed && strcmp(class->name, drill->name) == 0) {
            drill->class = class->id;
            return;
        }
    }
}

static void
find_paths(struct app *app, const struct born_question *question)
{
    struct born_facts *facts = &app->born.facts;
    follow_class(app);
    facts->paths_of = born_view_wants(&app->born_view);
    if (facts->paths_of == 0) {
        return;
    }
    facts->tree = model_tree(app->scene.model, facts->paths_of);
    if (!born_paths_make(&facts->paths, question, facts->paths_of)) {
        facts->state = BORN_STATE_FAILED;
    }
}

static void
find_facts(struct app *app)
{
    struct born_facts *facts = &app->born.facts;
    struct born_question question;
    facts->last = app->scene.model;
    if (!model_sampled(app->scene.model)) {
        facts->state = BORN_STATE_NO_FIGURES;
        return;
    }
    if (!find_marks(app) || !find_moments(app, &question)) {
        return;
    }
    if (!born_classes_make(&facts->classes, &question)) {
        facts->state = BORN_STATE_FAILED;
        return;
    }
    find_paths(app, &question);
}

void
app_born_update(struct app *app)
{
    const struct model *model = app->scene.model;
    if (!app_born_shown(app)) {
        if (app->born.model != NULL) {
            leave(app);
        }
        return;
    }
    if (app->born.model == model && app->born.version == model_version(model) &&
        app->born.facts.paths_of == born_view_wants(&app->born_view) &&
        app->born.rewound == app->rewound) {
        return;
    }
    app_born_forget(app);
    find_facts(app);
    if (app->born.facts.state != BORN_STATE_KNOWN) {
        app->born.facts.paths_of = born_view_wants(&app->born_view); // as good as it gets
    }
    app->born.model = model;
    app->born.version = model_version(model);
    app->born.rewound = app->rewound;
}

/* Commands. */

// "A", "A C", "": false after having said what is wrong with it.
static bool
read_marks(struct app *app, const char *argument)
{
    int *wanted = app->born.wanted;
    int count = 0;
    wanted[BORN_A] = wanted[BORN_B] = MODEL_MARK_NONE;
    for (const char *at = argument + strspn(argument, " "); *at != '\0';
         at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        char letter = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        int mark = letter - 'A';
        if (length != 1 || letter < 'A' || letter > 'Z' || count == BORN_C) {
            app_tell(app, true, "born: the letters of two marks are wanted, such as A B");
            return false;
        }
        if (model_mark(app->scene.model, mark) == NULL) {
            app_tell(app, true, "born: mark %c is not set; m sets the next one", letter);
            return false;
        }
        wanted[count++] = mark;
        at += length;
    }
    if (count == BORN_C && wanted[BORN_A] == wanted[BORN_B]) {
        app_tell(app, true, "born: two different marks are wanted");
        return false;
    }
    if (count == BORN_C && is_before(app, wanted[BORN_B], wanted[BORN_A])) {
        int later = wanted[BORN_A];
        wanted[BORN_A] = wanted[BORN_B];
        wanted[BORN_B] = later;
    }
    return true;
}

unsigned
app_born_open(struct app *app, const char *argument)
{
    const struct model_class *class =
        app_tree_shown(app) ? tree_view_class(&app->tree, &app->scene) : NULL;
    if (!read_marks(app, argument)) {
        app->born.wanted[BORN_A] = app->born.wanted[BORN_B] = MODEL_MARK_NONE;
        return REACT_DRAW;
    }
    app_born_forget(app);
    if (!app_born_shown(app)) {
        born_view_open(&app->born_view, class);
    }
    return app_open_view(app, &app->born_view.drill.view);
}
