/* What CANN's documents leave to the device: what becomes of a number that an integer cannot be,
 * which of two values stays that are written to one place, what stands in a result when an index
 * was out of range.
 *
 * It is noticed when it happens, by whatever kernel, and kept until a test asks.  And since a
 * program may not count on any of it, the simulator takes one thing or another as it is set
 * (SIM_CHOICE): what a program shows under every setting does not depend on it. */

#include <string.h>

#include "sim.h"

static const char *const names[SIM_OPEN_REASONS] = {
    [SIM_OPEN_FAULT] = "fault", [SIM_OPEN_INTEGER] = "integer", [SIM_OPEN_NAN] = "nan",
    [SIM_OPEN_COMPLEX] = "complex", [SIM_OPEN_TWICE] = "twice", [SIM_OPEN_TIE] = "tie",
};

static unsigned noticed;
static char shown[64];

void sim_notice_open(SimOpen reason)
{
    __atomic_fetch_or(&noticed, 1u << reason, __ATOMIC_RELAXED);
}

int sim_choose_way(SimOpen reason)
{
    sim_notice_open(reason);
    return (int)sim_setting(SIM_CHOICE);
}

uint64_t sim_choose_bits(SimOpen reason, uint64_t usual)
{
    const uint64_t ways[] = {usual, 0x5555555555555555u, 0xAAAAAAAAAAAAAAAAu};
    return ways[sim_choose_way(reason)];
}

/* The numbers are such that halves have them, and of two signs. */
double sim_choose_real(SimOpen reason, double usual)
{
    const double ways[] = {usual, 0.671875, -0.328125};
    return ways[sim_choose_way(reason)];
}

/* --- what tests call --------------------------------------------------------------------- */

/* What was noticed since the last time, a word each; the text is valid until the next call. */
const char *sim_take_open(void)
{
    unsigned found = __atomic_exchange_n(&noticed, 0, __ATOMIC_RELAXED);
    shown[0] = '\0';
    for (int i = 0; i < SIM_OPEN_REASONS; i++) {
        if (found & 1u << i) {
            strcat(shown, names[i]);
            strcat(shown, " ");
        }
    }
    return shown;
}
