"""Marks of the interface's stability: they change nothing."""


def compatibility(is_backward_compatible):
    def mark(f):
        return f
    return mark
