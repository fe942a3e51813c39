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
    double growth           # of rounding on the way to the frame: see `growth` in frame.pyx
    int power               # 1 for columns known to full precision, 2 for those of a Gram matrix


cdef struct Node:
    # One node in a frame; pointers into a workspace, matrices column-major.
    int r            # coordinates of the frame
    int n_chosen     # columns to take
    int j            # independent ones among them
    int n            # candidates
    int t            # columns still to choose
    int d            # dimension of the candidates' span
    double error     # e(S), the constant part included
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


cdef void gather(const double* columns, const int* which, int r, int count,
                 double* out) noexcept nogil

cdef int factor_chosen(const Frame* frame, const int* chosen, Node* node) noexcept nogil

cdef double chosen_error(const Frame* frame, const int* chosen, Node* node) noexcept nogil

cdef void project_out(const Node* node, double* vectors, int n) noexcept nogil

cdef double charge_of(const Frame* frame, const Node* node, double own, double error,
                      double allowance) noexcept nogil

cdef double candidate_growth(const Frame* frame, const Node* node, int name,
                             int c) noexcept nogil

cdef double worst_growth(const Frame* frame, const int* names, const Node* node) noexcept nogil

cdef double sum_top(const double* lam, int d, int t) noexcept nogil

cdef double square(const double* z, int d) noexcept nogil

cdef void sort_by(const double* key, int* order, int n) noexcept nogil

cdef size_t node_size(size_t r, size_t n, size_t j) noexcept nogil

cdef double* lay_out(Node* node, double* memory, int* integers, int rank, int n_candidates,
                     int n_chosen, int t) noexcept nogil

cdef double prepare(const Frame* frame, const int* chosen, const int* kept, int n,
                    double allowance, Node* node) noexcept nogil

cdef int filtered(const Frame* frame, const int* chosen, int* kept, int n, double threshold,
                  double allowance, Node* node, double* f, double* u, double* tops,
                  double* bound) noexcept nogil

cdef void inner_products(Node* node, const double* images, int rows,
                         double* products) noexcept nogil
