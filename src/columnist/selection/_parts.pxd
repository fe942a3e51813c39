# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Parts of a node that was divided by relaxation (:mod:`columnist.selection._relax`)."""


cdef enum State:
    CLOSED, OPEN, LEFT  # nothing below the threshold, something, the other bound's


cdef struct Part:
    int m, n, t, n_bounds
    State state
    double bound
    int* chosen
    int* candidates
    float* z


cdef inline void choose(Part* part, int item) noexcept nogil:
    part.chosen[part.m] = item
    part.m += 1
    part.t -= 1


cdef inline void decide(Part* part, const int* marks, double* score,
                        const double* z) noexcept nogil:
    """Choose what is marked 1, drop what is marked 2, and put the rest in the order of scores."""
    cdef int i, j, item, n = 0
    cdef double own
    for i in range(part.n):
        item, own = part.candidates[i], score[i]
        if marks[i] == 1:
            choose(part, item)
        elif marks[i] == 0:
            j = n
            while j > 0 and score[j - 1] > own:
                part.candidates[j], part.z[j] = part.candidates[j - 1], part.z[j - 1]
                score[j] = score[j - 1]
                j -= 1
            part.candidates[j], part.z[j], score[j] = item, <float> z[i], own
            n += 1
    part.n = n
