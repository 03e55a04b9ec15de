"""Spellings of formulas: what the page and the command line make of the same text.

What both read means the same; what only the page reads, or neither, the other answers with what to
write instead.
"""

BOTH = {  # a text, and the same in Python, which both read
    "x⁴": "x**4", "x⁻¹": "x**-1", "x¹²*y": "x**12*y", "2^-x": "2**-x", "x^2^y": "x**2**y",
    "-x²": "-(x**2)", "1_000*x": "1000*x", "0x10*x": "16*x", "0b11*x": "3*x", "1e-3*x": "0.001*x", "1e−3*x": "0.001*x",
    "x·y⋅z": "x*y*z", "x×y÷z": "x*y/z", "x − y": "x - y", "π*x": "pi*x", "e^(−x)": "e**(-x)",
    "ln(x)": "log(x)", "max(x, y)": "maximum(x, y)", "min(x, y, z)": "minimum(minimum(x, y), z)",
    "max(2*x, max(y, z), 1)*2": "maximum(maximum(2*x, maximum(y, z)), 1)*2",
    "|x|": "abs(x)", "||x| − 1|": "abs(abs(x) - 1)", "||x|·|y||": "abs(abs(x)*abs(y))", "|x|·√y": "abs(x)*sqrt(y)", "√x²": "sqrt(x)**2",
    "√(x + y)": "sqrt(x + y)", "√2*x": "sqrt(2)*x",
}  # fmt: skip
PAGE = {  # a text, what the page reads, and what the command line answers
    "3x": ("3*x", "a product has its sign, a function its brackets: 3*x**2"),
    "6/2x": ("6/(2*x)", "a product has its sign"),
    "x²y": ("x**2*y", "a product has its sign"),
    "|x|y": ("abs(x)*y", "a product has its sign"),
    "|x|-1|y|": ("abs(x)-abs(y)", "a product has its sign"),
    "|x − |y||": ("abs(x-abs(y))", "a function its brackets: 3*x**2 + log(abs(x))"),
    "√sin(x)": ("sqrt(sin(x))", "a function its brackets"),
    "sin x": ("sin(x)", "a function its brackets"),
    "2 ln |x|": ("2*log(abs(x))", "a function its brackets"),
    "ReLU(x) + Max(x, y, 1)": ("relu(x)+maximum(maximum(x,y),1)", "no function ReLU; there"),
}
NEITHER = {  # a text, and what each answers
    "x²3": ("a product needs its sign", "a product has its sign"),
    "1__0*x": ("Write 1 for 1_", "invalid decimal literal"),
    "010*x": ("Write 10 for 010", "leading zeros in decimal integer"),
    "class*x": ("“class” is a word of Python; write class_", "invalid syntax"),
    "sin x²": ("write sin(x)^2, or sin(x^2)", "a function its brackets"),
    "sin 2x": ("“sin” is a function; write sin(x)", "a function its brackets"),
    "max(x)": ("“max” takes at least two numbers", "write max(x, y)"),
    "max*x": ("“max” is a function; write max(…)", "it is a function: max(x, y)"),
    "ln*x": ("“ln” is a function; write ln(x)", "it is a function: ln(x)"),
    "1/2 x": ("a space is read in two ways; write 1/(2*x)", "a product has its sign"),
    "a=2, b=3": ("formulas stand apart by ; as in a=2; b=3", "invalid syntax"),
    "x y": ("a product needs its sign: x*y", "a product has its sign"),
    "sqrt(-1)+x": ("“sqrt(-1)” has no value", "outside the domain"),
    "1/0*x": ("“1/0” has no value", "division by zero"),
    "e^710*x": ("has no value, or one too large", "too large for a float"),
    "x··y": ("“·” stands where a number, a name or a bracket is expected", "invalid syntax"),
    "x·*y": ("“*” stands where a number", "invalid syntax"),
    "x!": ("“!” has no meaning in a formula", "a product has its sign"),
}
