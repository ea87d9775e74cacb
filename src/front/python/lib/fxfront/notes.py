"""Notes to the user: what was skipped or assumed. Each is said once; the driver prints them."""
_said = []


def note(text):
    if text not in _said:
        _said.append(text)


def take():
    """The notes since the last call."""
    notes = list(_said)
    _said.clear()
    return notes
