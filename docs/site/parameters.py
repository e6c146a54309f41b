"""Docstrings' sentences on parameters as lists: "sizes (k,): how much. caps (k,) [B]: ..." """

import re

import griffe


class Parameters(griffe.Extension):
    """Rewrites the docstrings of functions and classes, once all are known."""

    def on_function(self, *, func, **_):
        """Rewrite the docstring of a function."""
        _rewrite(func, [one.name for one in func.parameters])

    def on_class(self, *, cls, **_):
        """Rewrite the docstring of a class, whose fields are its attributes."""
        inside = [name for name, one in cls.members.items() if one.is_attribute]
        made = [one.name for one in cls.parameters]
        _rewrite(cls, [*made, *inside])


def _rewrite(thing, names):
    known = [name.lstrip("*") for name in names if name not in ("self", "cls")]
    if thing.docstring is not None and known:
        thing.docstring.value = listed(thing.docstring.value, known)


def listed(text, names):
    """Return a docstring whose paragraphs on two or more of these names are lists."""
    first, *others = text.split("\n\n")
    return "\n\n".join([first, *(_paragraph(one, names) for one in others)])


def _paragraph(text, names):
    """Return a paragraph, as a list where it explains two or more names."""
    if text.startswith((" ", "-", "|")):  # code, a list, a table
        return text
    line = " ".join(text.split())
    name = "(?:" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + ")"
    shape = r"(?: (?:or )?\([^)]*\)| \[[^\]]*\]|,? (?:or )?(?:int32|int64|float64|bool|None)\b)"
    about = f"{shape}*"
    head = rf"{name}{about}(?:(?:,| and|, and) {name}{about})*"
    begins = rf"(?:^|(?<=[.;] ))(?={head}(?:[:;.]|, (?!{name})| are | is ))"
    before, *items = re.split(begins, line)
    if len(items) < 2:
        return text
    items[-1], after = _last(items[-1])
    shown = [f"- {_marked(one, head, name)}" for one in items]
    return "\n\n".join(filter(None, [before.strip(), "\n".join(shown), after]))


def _last(item):
    """Return the last item, and the whole sentences after it, which speak of more than it."""
    end = re.search(r"\. (?=[A-Z][a-z]* )", item)
    return (item[: end.end()], item[end.end() :]) if end else (item, "")


def _marked(item, head, name):
    """Return an item with the names in its head as code."""
    item = item.strip().rstrip(";")
    end = re.match(head, item).end()
    aside_or_name = rf"\([^)]*\)|\[[^\]]*\]|(?<!\w)({name})(?!\w)"
    shown = re.sub(aside_or_name, lambda at: f"**`{at[1]}`**" if at[1] else at[0], item[:end])
    return shown + item[end:]
