# The figures of _rounding.py for compiled kernels; a test compares them.

cdef extern from *:
    """
    #define COLUMNIST_UNIT 1.1102230246251565e-16
    #define COLUMNIST_DEPENDENT 1e-13
    #define COLUMNIST_DOUBTFUL 5e-14
    #define COLUMNIST_NOISE 3.552713678800501e-15
    #define COLUMNIST_INDEPENDENT 1e-6
    #define COLUMNIST_NEARLY_DEPENDENT 1e-9
    #define COLUMNIST_PARALLEL 1e-14
    #define COLUMNIST_SUMS 1.4210854715202004e-14
    """
    const double UNIT "COLUMNIST_UNIT"
    const double DEPENDENT "COLUMNIST_DEPENDENT"
    const double DOUBTFUL "COLUMNIST_DOUBTFUL"
    const double NOISE "COLUMNIST_NOISE"
    const double INDEPENDENT "COLUMNIST_INDEPENDENT"
    const double NEARLY_DEPENDENT "COLUMNIST_NEARLY_DEPENDENT"
    const double PARALLEL "COLUMNIST_PARALLEL"
    const double SUMS "COLUMNIST_SUMS"
