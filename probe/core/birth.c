#include "probe/core/birth.h"

void
birth_collection(struct birth *birth)
{
    birth->collections++;
}
