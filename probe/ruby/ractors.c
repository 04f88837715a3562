#include "probe/ruby/ractors.h"

#include <ruby.h>

static void (*on_first)(void);
static bool seen;

static void
first_ractor(void)
{
    if (!seen) {
        seen = true;
        on_first();
    }
}

// In front of Ractor.new; in C, so that the Ractor's own file and line stay
// those of the caller.
static VALUE
ractor_new(int argc, VALUE *argv, VALUE self)
{
    (void)self;
    first_ractor();
    return rb_call_super_kw(argc, argv, RB_PASS_CALLED_KEYWORDS);
}

static VALUE
ractor_class(void)
{
    ID name = rb_intern("Ractor");
    return rb_const_defined(rb_cObject, name) ? rb_const_get(rb_cObject, name) : Qnil;
}

static int
ractor_count(void)
{
    VALUE class = ractor_class();
    return NIL_P(class) ? 1 : NUM2INT(rb_funcall(class, rb_intern("count"), 0));
}

void
ractors_watch(void (*first)(void))
{
    static bool watching;
    on_first = first;
    VALUE class = ractor_class();
    if (NIL_P(class)) {
        return;
    }
    if (!watching) {
        watching = true;
        VALUE guard = rb_define_module_under(rb_path2class("Memtop"), "RactorGuard");
        rb_ext_ractor_safe(true);
        rb_define_method(guard, "new", ractor_new, -1);
        rb_ext_ractor_safe(false);
        rb_prepend_module(rb_singleton_class(class), guard);
    }
    if (seen || ractor_count() > 1) {
        seen = true;
        first();
    }
}

bool
ractors_alone(void)
{
    return !seen || ractor_count() == 1;
}
