"""Filters for cases: texts that are filters, texts that are none, and what some of them mean."""

from collections.abc import Mapping, Sequence

VALID = (
    "(name=service-a)",
    "(&(name=service-a)(version>11))",
    # Blanks belong to the value, also at its ends.
    "(game= a space adventure )",
    "(a=b)",
    # Texts by the grammar; a parser that tries numbers first must take them all the same.
    "(a=5)",
    "(a=-5)",
    "(a=1.5)",
    # Two, three and four bytes of UTF-8, in keys as in values.
    "(a=ä)",
    "(ä=日本)",
    "(😀=x)",
    "(a=\t\n)",
    # What is special neither in the grammar nor in LDAP (RFC 4515), where many implementations come from.
    "(a b=c d)",
    "(a-b_c.d/e=x:y,z;@#$%^~`'\"?[]{)",
    "(a>5)",
    "(a<5)",
    # The sign: a lexer for unsigned numbers stumbles.
    "(a>-5)",
    "(a<0)",
    "(a=*)",
    # Asterisks in every place: the parts in front, between and behind may each be absent.
    "(a=x*)",
    "(a=*x)",
    "(a=*x*)",
    "(a=x*y)",
    "(a=x*y*z)",
    "(a=*x*y*)",
    # Escaped, special characters are plain ones.
    "(a=\\*)",
    "(a=\\**)",
    "(a\\=b=c)",
    "(a=\\(x\\))",
    "(a=\\\\)",
    # Every operator below every other; then a nesting that exhausts a parser with a fixed stack of a few levels.
    "(!(a=b))",
    "(!(a=*))",
    "(!(!(a=b)))",
    "(&(a=b)(c=d))",
    "(|(a=b)(c=d))",
    "(&(a=b)(c=d)(e>5)(f=x*))",
    "(|(a=b)(a=b))",
    "(!(&(a=b)(c=d)))",
    "(&(!(a=b))(!(c=d)))",
    "(|(!(a=b))(&(c=d)(e=f)))",
    "(&(|(a=b)(!(c=d)))(|(e=*)(!(|(f=x*)(g>5)))))",
    "(!(!(!(!(!(!(!(!(a=b)))))))))",
)
"""Filters in whatever reading."""

NO_FILTERS = (
    "",
    # Parentheses that are missing or too many.
    "a=b",
    "(a=b",
    "a=b)",
    "(a=b))",
    # Operators without operands, and not with two.
    "()",
    "(&)",
    "(|)",
    "(!)",
    "(!(a=b)(c=d))",
    # Operands without parentheses, and blanks between operands.
    "(!a=b)",
    "(&(a=b)c=d)",
    "(&(a=b) (c=d))",
    "(a)",
    "((a=b))",
    "(a=b)(c=d)",
    # Special characters that are not escaped.
    "(a=x(y)",
    "(a=x)y)",
    "(a=x!y)",
    "(a=x&y)",
    "(a=x|y)",
    "(a=x=y)",
    "(a=x<y)",
    # A backslash before what needs none, or before nothing.
    "(a=\\n)",
    "(a=\\)",
    "(a=b\\)",
    "(a=b)\\",
    # What a parser that trims its input takes.
    " (a=b)",
    "(a=b) ",
    "(a=b)\n",
    # Operators of LDAP that Pathfinder does not have.
    "(a~b)",
    "(a>=5)",
    "(a<=5)",
    "(a*=b)",
    "(a>5*)",
    "(&(a=b)(c))",
    "(|(a=b)(!))",
)
"""Texts that are filters in no reading."""

MEANINGS = (
    # One value among several suffices (xy).
    ("(a=x)", "x xy"),
    ("(a=y)", "y xy"),
    # A value that none has: a filter that matches nothing is no error.
    ("(a=z)", ""),
    ("(a=*)", "x y xy number"),
    ("(b=*)", "x b"),
    # Not is true of services that lack the property, too; and twice not is what it was.
    ("(!(a=x))", "y number b none"),
    ("(!(a=*))", "b none"),
    ("(!(!(a=x)))", "x xy"),
    ("(&(a=x)(a=y))", "xy"),
    ("(&(a=x)(b=1))", "x"),
    ("(&(a=x)(!(b=1)))", "xy"),
    ("(|(a=x)(a=y))", "x y xy"),
    ("(|(a=x)(b=*))", "x xy b"),
    ("(|(a=z)(c=*))", ""),
    ("(!(|(a=*)(b=*)))", "none"),
    ("(!(&(a=x)(b=1)))", "y xy number b none"),
    ("(|(&(a=x)(b=1))(&(a=y)(!(a=x))))", "x y"),
    ("(&(|(a=x)(a=y))(|(b=1)(!(b=*))))", "x y xy"),
    ("(name=x)", ""),
    ("(a=a)", ""),
)
"""Filters, and which services of ``MEANT`` they match."""

MEANT: Mapping[str, Mapping[str, Sequence[str | int]]] = {
    "x": {"a": ["x"], "b": ["1"]},
    "y": {"a": ["y"]},
    "xy": {"a": ["x", "y"]},
    "number": {"a": [7]},
    "b": {"b": ["2"]},
    "none": {},
}
