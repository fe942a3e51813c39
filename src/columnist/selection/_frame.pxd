"""A column-subset node in coordinates; see ``frame.pyx``."""

cdef struct Frame:
    # A problem in coordinates: r x n columns (column-major), weights of the coordinates.
    int r
    const double* columns
    const double* weights
    const double* lengths   # of the original columns, in the frame's units
    const int* names        # public number of each column
    double constant         # error that no column of the frame can reduce
    double total            # energy of the whole target
    double allowance        # rounding taken from every bound, before it grows
    double growth           # of rounding on the way to the frame: see `growth` in frame.pyx
    int power               # 1 for columns known to full precision, 2 for those of a Gram matrix


cdef struct Node:
    # One node in a frame; pointers into a workspace, matrices column-major.
    const Frame* frame
    const int* chosen
    int r            # coordinates of the frame
    int n_chosen     # columns to take
    int j            # independent ones among them
    int n            # candidates, later children below the threshold
    int t            # columns still to choose
    int d            # dimension of the candidates' span
    double error     # e(S), the constant part included
    double bound     # of every completion
    double growth    # of rounding, by the chosen columns
    double spread    # the same by the candidates, where their span is the basis
    bint doubtful    # a column was left out that may be more than rounding
    double* basis    # r x d, later the images of the candidates
    double* moment   # d x d, H and then its reflectors
    double* coords   # d x n, candidates in the basis
    double* norms    # n
    double* lam      # d, descending
    double* z        # d x n
    double* q        # r x r
    double* vectors  # d x d
    double* tau
    double* diag
    double* off
    double* roots
    double* secular
    double* work
    int lwork
    int* iwork
    int liwork
    int* kept        # candidates
    int* order       # children by bound; twice that length, the second half is scratch
    int* names       # their public numbers
    double* f        # their bounds
    double* u        # their errors
    double* tops     # eigenvalues left in them, t - 1 each
    double* lengths  # of the original columns, in the units of the node's own frame
    double* memory   # free behind all that
    int* integers


cdef void gather(const Frame* frame, const int* which, int count, double* out) noexcept nogil

cdef int factor_chosen(Node* node) noexcept nogil

cdef double chosen_error(Node* node) noexcept nogil

cdef void project_out(const Node* node, double* vectors, int n) noexcept nogil

cdef double charge_of(const Node* node, double own, double error) noexcept nogil

cdef double candidate_growth(const Node* node, int c) noexcept nogil

cdef double worst_growth(const Node* node) noexcept nogil

cdef double sum_top(const double* lam, int d, int t) noexcept nogil

cdef double square(const double* z, int d) noexcept nogil

cdef void sort_by(const double* key, int* order, int n) noexcept nogil

cdef size_t node_size(size_t r, size_t n, size_t j, size_t t) noexcept nogil

cdef void lay_out(Node* node, const Frame* frame, const int* chosen, int n_chosen,
                  const int* candidates, int n_candidates, int t, double* memory,
                  int* integers) noexcept nogil

cdef double prepare(Node* node, int n) noexcept nogil

cdef void pack(Node* node, int m, int c) noexcept nogil

cdef int filtered(Node* node, double threshold) noexcept nogil

cdef void inner_products(Node* node, const double* images, int rows,
                         double* products) noexcept nogil
