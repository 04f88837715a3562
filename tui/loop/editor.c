#include "tui/loop/editor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct writer {
    char *at;
    char *end;
    bool full;
};

static void
put(struct writer *writer, char byte)
{
    if (writer->at + 1 >= writer->end) {
        writer->full = true;
        return;
    }
    *writer->at++ = byte;
}

static bool
is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

// One word of a command line; returns where it ends.
static const char *
take_word(const char *at, struct writer *writer)
{
    char quote = '\0';
    for (; *at != '\0' && (quote != '\0' || !is_blank(*at)); at++) {
        if (*at == quote) {
            quote = '\0';
        } else if (quote == '\0' && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else if (*at == '\\' && quote != '\'' && at[1] != '\0') {
            put(writer, *++at);
        } else {
            put(writer, *at);
        }
    }
    put(writer, '\0');
    return at;
}

static void
put_word(struct editor_command *command, size_t *count, struct writer *writer,
         const char *word)
{
    command->words[(*count)++] = writer->at;
    for (; *word != '\0'; word++) {
        put(writer, *word);
    }
    put(writer, '\0');
}

// Editors that want FILE:LINE, and what comes before it. All others know +LINE.
static const struct {
    const char *name;
    const char *option; // NULL for none
} by_colon[] = {
    {"code",   "-g"},
    {"codium", "-g"},
    {"cursor", "-g"},
    {"subl",   NULL},
    {"hx",     NULL},
    {"helix",  NULL},
    {"zed",    NULL},
};

// A file that is not told from the root is told from here: editors take "+:!id" and
// "-c:!id" for commands, and what a file is called is the watched program's choice.
static void
put_place(struct editor_command *command, size_t *count, struct writer *writer,
          const char *file, uint32_t line)
{
    char place[EDITOR_BYTES];
    const char *from = file[0] == '/' ? "" : "./";
    const char *slash = strrchr(command->words[0], '/');
    const char *name = slash != NULL ? slash + 1 : command->words[0];
    for (size_t i = 0; i < sizeof by_colon / sizeof by_colon[0]; i++) {
        if (strcmp(name, by_colon[i].name) == 0) {
            if (by_colon[i].option != NULL) {
                put_word(command, count, writer, by_colon[i].option);
            }
            snprintf(place, sizeof place, "%s%s:%u", from, file, (unsigned)line);
            put_word(command, count, writer, place);
            return;
        }
    }
    snprintf(place, sizeof place, "+%u", (unsigned)line);
    put_word(command, count, writer, place);
    snprintf(place, sizeof place, "%s%s", from, file);
    put_word(command, count, writer, place);
}

bool
editor_command(struct editor_command *command, const char *editor, const char *file,
               uint32_t line)
{
    struct writer writer = {command->text, command->text + sizeof command->text, false};
    size_t count = 0;
    for (editor += strspn(editor, " \t"); *editor != '\0';
         editor += strspn(editor, " \t")) {
        if (count == EDITOR_WORDS_MAX) {
            return false;
        }
        command->words[count++] = writer.at;
        editor = take_word(editor, &writer);
    }
    if (count == 0) {
        return false;
    }
    put_place(command, &count, &writer, file, line);
    command->words[count] = NULL;
    return !writer.full;
}

// The signals that the viewer handles mean in the editor what they always do.
static void
become(char *const *words)
{
    static const int numbers[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGTERM, SIGHUP};
    sigset_t none;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        signal(numbers[i], SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(words[0], words);
    _exit(127);
}

static bool
wait_for(pid_t child, const char *name, char *why, size_t why_size)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        snprintf(why, why_size, "editor: cannot run %.100s; set $VISUAL or $EDITOR",
                 name);
        return false;
    }
    return true;
}

static bool
run(const struct editor_command *command, char *why, size_t why_size)
{
    pid_t child = fork();
    if (child == 0) {
        become(command->words);
    }
    if (child < 0) {
        snprintf(why, why_size, "editor: %s", strerror(errno));
        return false;
    }
    return wait_for(child, command->words[0], why, why_size);
}

bool
editor_run(const char *file, uint32_t line, char *why, size_t why_size)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct editor_command command;
    const char *visual = getenv("VISUAL");
    const char *editor = visual != NULL && *visual != '\0' ? visual : getenv("EDITOR");
    if (editor == NULL || !editor_command(&command, editor, file, line)) {
        snprintf(why, why_size, "editor: set $VISUAL or $EDITOR to the one you use");
        return false;
    }
    // what is typed meanwhile to end something is meant for the editor
    struct sigaction interrupt;
    struct sigaction quit;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    bool good = run(&command, why, why_size);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return good;
}
