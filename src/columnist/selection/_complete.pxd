"""Completing a choice by its last columns; see ``complete.pyx``."""

from columnist.selection._frame cimport Node

cdef enum:
    MAX_DEPTH = 64


cdef struct Left:
    # A candidate j once column i is taken.
    double cosine    # a_i'a_j
    double inner     # z_i'z_j
    double gap       # squared length of a_j without its part along a_i
    double energy    # z_j likewise: |z_j - (a_i'a_j) z_i|^2


cdef struct Best:
    # The best completions of a node, ascending by error; `width` items each. Beside those that are
    # wanted there is room for others that rounding cannot tell from them.
    int count
    int capacity
    int wanted
    int width
    double* error
    double* charge   # rounding of each error
    int* items
    double floor     # least error, rounding taken off, of the completions there was no room for


cdef struct Search:
    # A depth-first search below one node.
    double limit        # complete sets must stay below it
    double slack        # rounding of inner products at the present node, relative to them
    bint doubtful       # a column was left out that may be more than rounding
    double budget       # operations left
    long nodes          # nodes expanded
    long unresolved     # children given up for lack of budget
    long resolved       # children explored to their end
    Best best
    double allowance
    Node exact          # scratch to evaluate complete sets: the node's columns, the path and others
    int n_base          # columns of the node
    int* path           # what stands behind them
    int depth           # columns on the path


cdef double node_slack(const Node* node) noexcept nogil

cdef bint offer(Search* search, const int* last, int count) noexcept nogil

cdef Left behind(const double* A, const double* M, int n, int i, int j) noexcept nogil

cdef void scan_triples(Search* search, Node* node) noexcept nogil

cdef void scan_node_pairs(Search* search, Node* node) noexcept nogil

cdef double enumeration(int n, int t) noexcept nogil

cdef void enumerate_child(Search* search, const Node* node, const double* A, const double* M,
                          int i, const int* allowed, int count, double* memory,
                          int* integers) noexcept nogil
