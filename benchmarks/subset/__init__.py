"""Best-subset regression and classification beside other programs and prototypes."""
